// A synthetic row is at mean + (row − mean)/√γ. Axes are linear, so this applies to positions in the picture.
for (const slider of document.querySelectorAll("input[data-moves]")) {
  const dots = document.querySelectorAll(`#${slider.dataset.moves} circle[data-mx]`);
  const shown = slider.parentElement.querySelector("output");
  const move = () => {
    const gamma = 2 ** Number(slider.value);
    const shrink = 1 / Math.sqrt(gamma);
    for (const dot of dots) {
      const { x, y, mx, my } = dot.dataset;
      dot.setAttribute("cx", Number(mx) + (x - mx) * shrink);
      dot.setAttribute("cy", Number(my) + (y - my) * shrink);
    }
    shown.textContent = `γ = ${gamma.toFixed(2)}`;
  };
  slider.addEventListener("input", move);
  move();
}
