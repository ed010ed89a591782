// Pictures: a scatter plot on a canvas, which moves with a slider, and small SVG ones.

import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

export type Numbers = (number | null)[];
export interface Points {
  values: [Numbers, Numbers];
  source: Numbers;
  partner: Numbers;
  group: Numbers;
  strength: Numbers;
}
export interface Preview {
  original: Points;
  synthetic: Points;
  names: [string, string];
  levels: [string[], string[]];
  made: number;
  sampled: number | null;
  script: { command: string; python: string };
}

/** A number with few digits. */
export function short(value: number | null | undefined, digits = 4): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e7 || size < 1e-4)) return value.toExponential(2).replace("-", "−");
  return String(Number(value.toPrecision(digits))).replace("-", "−");
}

/** Round numbers inside a range. */
export function ticks(low: number, high: number, count: number): number[] {
  const raw = (high - low) / Math.max(1, count);
  if (!(raw > 0) || !Number.isFinite(raw)) return [low];
  const unit = 10 ** Math.floor(Math.log10(raw));
  const step = unit * ([1, 2, 5, 10].find((factor) => factor * unit >= raw) ?? 10);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: Math.min(50, last - first + 1) }, (_, place) => (first + place) * step);
}

/** The ends of a column's values, widened a little; `known` is not narrowed. */
function range(columns: Numbers[], levels: string[], known?: [number, number]): [number, number] {
  if (levels.length > 0) return [-0.6, levels.length - 0.4];
  let [low, high] = [Infinity, -Infinity];
  for (const column of columns)
    for (const value of column)
      if (value !== null) {
        if (value < low) low = value;
        if (value > high) high = value;
      }
  if (low > high) return known ?? [0, 1];
  const pad = (high - low) * 0.04 || Math.abs(high) * 0.1 || 1;
  const [from, to] = [low - pad, high + pad];
  return known ? [Math.min(from, known[0]), Math.max(to, known[1])] : [from, to];
}

/** Levels are spread a little, always in the same way. */
const jitter = (place: number) => ((((place * 2654435761) >>> 0) % 1000) / 1000 - 0.5) * 0.5;

interface Frame {
  x: (value: number) => number;
  y: (value: number) => number;
  xs: [number, number];
  ys: [number, number];
}

const MARGIN = { left: 58, right: 52, top: 52, bottom: 44 };

interface ScatterProps {
  data: Preview;
  names: [string, string];
  byGroup: boolean;
  /** The time of the movement of the slider that this picture answers. */
  since?: number | undefined;
}

/** Draws again if the place of a canvas or the color scheme changes. */
function useRedraw(canvas: RefObject<HTMLCanvasElement>) {
  const [, redraw] = useState(0);
  useEffect(() => {
    const again = () => redraw((count) => count + 1);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const observer = new ResizeObserver(again);
    if (canvas.current?.parentElement) observer.observe(canvas.current.parentElement);
    dark.addEventListener("change", again);
    return () => {
      observer.disconnect();
      dark.removeEventListener("change", again);
    };
  }, []);
}

export function Scatter({ data, names, byGroup, since }: ScatterProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const frame = useRef<Frame | null>(null);
  const known = useRef<{ key: string; xs: [number, number]; ys: [number, number] } | null>(null);
  const [shown, setShown] = useState<number | null>(null);
  const hues = data.synthetic.group.length > 0 && byGroup;

  useRedraw(canvas);

  // Before the browser paints: a slider waits for this.
  useLayoutEffect(() => {
    const element = canvas.current;
    if (!element) return;
    const key = names.join("\u0000");
    const before = known.current?.key === key ? known.current : null;
    const of = (axis: 0 | 1) => [data.original.values[axis], data.synthetic.values[axis]];
    const xs = range(of(0), data.levels[0], before?.xs);
    const ys = range(of(1), data.levels[1], before?.ys);
    known.current = { key, xs, ys };
    frame.current = draw(element, data, names, hues, { xs, ys }, shown);
    if (since !== undefined && since > 0) {
      const taken = Math.round((performance.now() - since) * 10) / 10;
      element.dataset.latency = String(taken);
    }
  });

  const tip = shown === null ? null : describe(data, names, shown);
  const place = shown === null || !frame.current ? null : at(data, frame.current, shown);
  const count = data.original.source.length + data.synthetic.source.length;
  const find = (event: PointerEvent) => {
    const element = canvas.current;
    if (!element || !frame.current) return;
    const box = element.getBoundingClientRect();
    setShown(nearest(data, frame.current, event.clientX - box.left, event.clientY - box.top));
  };
  const step = (event: KeyboardEvent) => {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") setShown(null);
    if (by === undefined || count === 0) return;
    event.preventDefault();
    const first = data.original.source.length;
    setShown(((shown === null ? first - 1 : shown) + by + count) % count);
  };
  return (
    <div class="picture">
      <canvas
        ref={canvas}
        tabIndex={0}
        role="img"
        aria-label={`${names[1]} against ${names[0]}: ${data.original.source.length} original rows and ${data.synthetic.source.length} synthetic rows. Arrow keys go through the rows.`}
        onPointerMove={find}
        onPointerDown={find}
        onPointerLeave={() => setShown(null)}
        onBlur={() => setShown(null)}
        onKeyDown={step}
      />
      {tip && place && (
        <div class="tip" style={tipStyle(place, canvas.current)}>
          {tip}
        </div>
      )}
      <div class="hidden" aria-live="polite">
        {tip}
      </div>
      <p class={hues ? "key" : "key hues"}>
        <span>
          <i class="original" />
          original
        </span>
        <span>
          <i class="synthetic" />
          synthetic
        </span>
        {hues && <span>colors are groups</span>}
      </p>
    </div>
  );
}

function tipStyle([x, y]: [number, number], element: HTMLCanvasElement | null) {
  const width = element?.clientWidth ?? 600;
  const left = x > width / 2;
  return { top: `${y + 12}px`, ...(left ? { right: `${width - x + 8}px` } : { left: `${x + 8}px` }) };
}

function point(data: Preview, place: number): { points: Points; row: number; made: boolean } {
  const first = data.original.source.length;
  return place < first
    ? { points: data.original, row: place, made: false }
    : { points: data.synthetic, row: place - first, made: true };
}

function at(data: Preview, frame: Frame, place: number): [number, number] | null {
  const { points, row } = point(data, place);
  const [x, y] = [points.values[0][row], points.values[1][row]];
  if (x == null || y == null) return null;
  const spread = (axis: 0 | 1, value: number) => value + (data.levels[axis].length ? jitter(row + axis) : 0);
  return [frame.x(spread(0, x)), frame.y(spread(1, y))];
}

function nearest(data: Preview, frame: Frame, x: number, y: number): number | null {
  const count = data.original.source.length + data.synthetic.source.length;
  let [best, found] = [14 ** 2, null as number | null];
  for (let place = 0; place < count; place++) {
    const here = at(data, frame, place);
    if (!here) continue;
    const off = (here[0] - x) ** 2 + (here[1] - y) ** 2;
    if (off <= best) [best, found] = [off, place];
  }
  return found;
}

/** The place of an original row by its number. */
function original(data: Preview, number: number | null | undefined): number {
  return number == null ? -1 : data.original.source.indexOf(number);
}

function describe(data: Preview, names: [string, string], place: number): string {
  const { points, row, made } = point(data, place);
  const value = (from: Points, place: number, axis: 0 | 1) => {
    const value = from.values[axis][place];
    const level = value == null ? undefined : data.levels[axis][value];
    return `${names[axis]} ${level ?? short(value)}`;
  };
  const both = (from: Points, place: number) => `${value(from, place, 0)}, ${value(from, place, 1)}`;
  if (!made) return `Row ${points.source[row]} of the table\n${both(points, row)}`;
  const lines = ["Synthetic row", both(points, row)];
  const source = original(data, points.source[row]);
  if (source >= 0) lines.push(`from row ${points.source[row]}: ${both(data.original, source)}`);
  const partner = original(data, points.partner[row]);
  if (partner >= 0) lines.push(`mixed with row ${points.partner[row]}: ${both(data.original, partner)}`);
  const about = [];
  if (points.group[row] != null) about.push(`group ${points.group[row]}`);
  if (points.strength[row] != null)
    about.push(`${points.group.length ? "γ" : "λ"} = ${short(points.strength[row], 3)}`);
  if (about.length) lines.push(about.join(", "));
  return lines.join("\n");
}

const color = (style: CSSStyleDeclaration, name: string) => style.getPropertyValue(`--${name}`).trim();

function draw(
  element: HTMLCanvasElement,
  data: Preview,
  names: [string, string],
  hues: boolean,
  { xs, ys }: { xs: [number, number]; ys: [number, number] },
  shown: number | null,
): Frame {
  const width = element.parentElement?.clientWidth ?? 600;
  const height = Math.round(Math.min(560, Math.max(300, width * 0.72)));
  const scale = window.devicePixelRatio || 1;
  if (element.width !== Math.round(width * scale) || element.height !== Math.round(height * scale)) {
    element.width = Math.round(width * scale);
    element.height = Math.round(height * scale);
    element.style.height = `${height}px`;
  }
  const context = element.getContext("2d")!;
  const style = getComputedStyle(element);
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  const [right, bottom] = [width - MARGIN.right, height - MARGIN.bottom];
  const x = (value: number) => MARGIN.left + ((value - xs[0]) / (xs[1] - xs[0])) * (right - MARGIN.left);
  const y = (value: number) => bottom - ((value - ys[0]) / (ys[1] - ys[0])) * (bottom - MARGIN.top);
  const frame = { x, y, xs, ys };
  const ink = color(style, "ink");
  const faint = color(style, "faint");
  context.font = "12px system-ui, sans-serif";
  context.strokeStyle = color(style, "grid");
  context.fillStyle = faint;
  context.lineWidth = 1;
  context.textAlign = "center";
  context.textBaseline = "top";
  const label = (axis: 0 | 1, value: number) => {
    const level = data.levels[axis][value];
    return level === undefined ? short(value) : level.length > 9 ? `${level.slice(0, 8)}…` : level;
  };
  const marks = (axis: 0 | 1, [low, high]: [number, number], count: number) =>
    data.levels[axis].length ? data.levels[axis].map((_, place) => place) : ticks(low, high, count);
  for (const value of marks(0, xs, width / 90)) {
    line(context, x(value), MARGIN.top, x(value), bottom);
    context.fillText(label(0, value), x(value), bottom + 6);
  }
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const value of marks(1, ys, height / 60)) {
    line(context, MARGIN.left, y(value), right, y(value));
    context.fillText(label(1, value), MARGIN.left - 6, y(value));
  }
  context.fillStyle = ink;
  context.font = "600 13px system-ui, sans-serif";
  context.textAlign = "center";
  context.textBaseline = "alphabetic";
  context.fillText(clipped(names[0]), (MARGIN.left + right) / 2, height - 6);
  context.save();
  context.translate(13, (MARGIN.top + bottom) / 2);
  context.rotate(-Math.PI / 2);
  context.fillText(clipped(names[1]), 0, 0);
  context.restore();

  const plain: [string, string] = [color(style, "c0"), color(style, "c1")];
  const palette = Array.from({ length: 12 }, (_, place) => color(style, `c${place}`));
  const hue = (points: Points, row: number, made: boolean) => {
    const group = points.group[row];
    return hues && group != null ? palette[group % 12]! : plain[made ? 1 : 0];
  };
  const count = data.original.source.length + data.synthetic.source.length;
  const radius = count > 8000 ? 1.5 : count > 2500 ? 2.2 : 3;
  for (const [points, made] of [[data.synthetic, true], [data.original, false]] as [Points, boolean][]) {
    context.globalAlpha = made ? 0.75 : 0.85;
    context.lineWidth = 1.3;
    const first = made ? data.original.source.length : 0;
    // By color, so that a path holds many points.
    const paths = new Map<string, Path2D>();
    for (let row = 0; row < points.source.length; row++) {
      const here = at(data, frame, first + row);
      if (!here) continue;
      const name = hue(points, row, made);
      let path = paths.get(name);
      if (!path) paths.set(name, (path = new Path2D()));
      path.moveTo(here[0] + radius, here[1]);
      path.arc(here[0], here[1], radius, 0, 2 * Math.PI);
    }
    for (const [name, path] of paths) {
      context.strokeStyle = context.fillStyle = name;
      if (made) context.stroke(path);
      else context.fill(path);
    }
  }
  context.globalAlpha = 1;
  marginal(context, data, 0, frame, plain, MARGIN.top - 6, right, bottom);
  marginal(context, data, 1, frame, plain, right + 6, right, bottom);
  if (shown !== null) lines(context, data, frame, shown, ink);
  return frame;
}

function line(context: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number) {
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
  context.stroke();
}

const clipped = (text: string) => (text.length > 40 ? `${text.slice(0, 39)}…` : text);

/** The histograms of original (filled) and synthetic (outlined) values along an axis. */
function marginal(
  context: CanvasRenderingContext2D,
  data: Preview,
  axis: 0 | 1,
  frame: Frame,
  [original, synthetic]: [string, string],
  base: number,
  right: number,
  bottom: number,
) {
  const levels = data.levels[axis].length;
  const bins = levels || 28;
  const [low, high] = axis === 0 ? frame.xs : frame.ys;
  const shares = [data.original, data.synthetic].map((points) => {
    const counts = new Array<number>(bins).fill(0);
    let all = 0;
    for (const value of points.values[axis]) {
      if (value === null) continue;
      const bin = Math.min(bins - 1, Math.max(0, Math.floor(((value - low) / (high - low)) * bins)));
      counts[levels ? value : bin]! += 1;
      all += 1;
    }
    return counts.map((count) => count / Math.max(1, all));
  });
  const most = Math.max(1e-9, ...shares.flat());
  const size = 40;
  const edge = (bin: number) => (levels ? bin - 0.5 : low + ((high - low) * bin) / bins);
  shares.forEach((heights, place) => {
    if (heights.every((height) => height === 0)) return;
    context.beginPath();
    heights.forEach((height, bin) => {
      const [from, to] = [edge(bin), edge(bin + 1)];
      const length = (height / most) * size;
      if (axis === 0) {
        const [left, end] = [frame.x(from), Math.min(right, frame.x(to))];
        context.rect(left, base - length, end - left, length);
      } else {
        const [top, end] = [frame.y(to), Math.min(bottom, frame.y(from))];
        context.rect(base, top, length, end - top);
      }
    });
    context.globalAlpha = place === 0 ? 0.3 : 0.95;
    context.lineWidth = 1.2;
    if (place === 0) {
      context.fillStyle = original;
      context.fill();
    } else {
      context.strokeStyle = synthetic;
      context.stroke();
    }
  });
  context.globalAlpha = 1;
}

/** Where a synthetic row comes from. */
function lines(context: CanvasRenderingContext2D, data: Preview, frame: Frame, place: number, ink: string) {
  const { points, row, made } = point(data, place);
  const here = at(data, frame, place);
  if (!here) return;
  context.strokeStyle = ink;
  context.lineWidth = 1.5;
  if (made)
    for (const number of [points.source[row], points.partner[row]]) {
      const from = original(data, number);
      const there = from < 0 ? null : at(data, frame, from);
      if (there) {
        line(context, there[0], there[1], here[0], here[1]);
        context.strokeRect(there[0] - 4, there[1] - 4, 8, 8);
      }
    }
  context.beginPath();
  context.arc(here[0], here[1], 6, 0, 2 * Math.PI);
  context.stroke();
}

/** Predicted against true values. */
export function Predicted({ y, predicted, name }: { y: number[]; predicted: number[]; name: string }) {
  const none: Numbers = [];
  const points = { values: [y, predicted] as [Numbers, Numbers], source: y.map((_, row) => row), partner: none, group: none, strength: none };
  const both = [...y, ...predicted];
  const ends = [Math.min(...both), Math.max(...both)];
  const canvas = useRef<HTMLCanvasElement>(null);
  useRedraw(canvas);
  useEffect(() => {
    const element = canvas.current;
    if (!element) return;
    const empty: Points = { values: [[], []], source: [], partner: [], group: [], strength: [] };
    const data = { original: points, synthetic: empty, names: ["", ""] as [string, string], levels: [[], []] as [string[], string[]], made: 0, sampled: null, script: { command: "", python: "" } };
    const span = range([ends], []);
    const frame = draw(element, data, [`${name}, true`, `${name}, predicted`], false, { xs: span, ys: span }, null);
    const context = element.getContext("2d")!;
    context.strokeStyle = color(getComputedStyle(element), "ink");
    context.lineWidth = 1;
    context.setLineDash([5, 4]);
    line(context, frame.x(span[0]), frame.y(span[0]), frame.x(span[1]), frame.y(span[1]));
    context.setLineDash([]);
  });
  return (
    <div class="picture">
      <canvas ref={canvas} role="img" aria-label={`Predicted against true ${name} of ${y.length} held-out rows`} />
    </div>
  );
}

export type Distribution =
  | { low: number; high: number; counts: number[] }
  | { levels: [string, number][]; others: number };

/** The small histogram of a column. */
export function Histogram({ of, name }: { of: Distribution; name: string }) {
  const bars: [string, number][] =
    "counts" in of
      ? of.counts.map((count, bin) => [short(of.low + ((of.high - of.low) * bin) / of.counts.length), count])
      : [...of.levels, ...(of.others > 0 ? [["others", of.others] as [string, number]] : [])];
  const most = Math.max(1, ...bars.map(([, count]) => count));
  const [wide, high] = [128, 36];
  const width = Math.min(24, wide / Math.max(1, bars.length));
  const words = "counts" in of ? `from ${short(of.low)} to ${short(of.high)}` : bars.slice(0, 4).map(([level, count]) => `${level} (${count})`).join(", ");
  return (
    <svg viewBox={`0 0 ${wide} ${high}`} preserveAspectRatio="none" role="img" aria-label={`Histogram of ${name}: ${words}`}>
      <line x1="0" x2={wide} y1={high - 0.5} y2={high - 0.5} stroke="var(--rule)" />
      {bars.map(([level, count], place) => {
        const size = (count / most) * (high - 2);
        return (
          <rect class="bar" x={place * width + 0.5} y={high - 1 - size} width={Math.max(0.5, width - 1)} height={size}>
            <title>{`${level}: ${count}`}</title>
          </rect>
        );
      })}
    </svg>
  );
}

export interface Candidate {
  name: string;
  reference: number | null;
}
export interface RunEvent {
  candidate: number;
  repeat: number;
  fold: number;
  rmse: number;
}
export interface Line {
  name: string;
  rmse: number;
  mean: number | null;
  low: number | null;
  high: number | null;
  finding: string;
}

/** A dot for every split: the change in RMSE to the reference on the same rows. */
export function SplitDots({ candidates, events, lines }: { candidates: Candidate[]; events: RunEvent[]; lines: Line[] | null }) {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(700);
  useEffect(() => {
    const observer = new ResizeObserver(() => setWidth(Math.max(300, box.current?.clientWidth ?? 700)));
    if (box.current) observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  const errors = new Map(events.map((run) => [`${run.candidate}/${run.repeat}/${run.fold}`, run.rmse]));
  const rows = candidates.map((candidate, place) => {
    const dots = events.flatMap((run) => {
      if (run.candidate !== place || candidate.reference === null || candidate.reference === place) return [];
      const base = errors.get(`${candidate.reference}/${run.repeat}/${run.fold}`);
      return base === undefined ? [] : [100 * (run.rmse / base - 1)];
    });
    return { candidate, place, dots };
  });
  const compared = rows.filter(({ candidate, place }) => candidate.reference !== null && candidate.reference !== place);
  // One candidate that is far off must not hide the others.
  const all = compared.flatMap(({ dots }) => dots.map((dot) => Math.abs(dot))).sort((a, b) => a - b);
  const most = Math.max(5, Math.min(120, 1.1 * (all[Math.floor(all.length * 0.97)] ?? 5)));
  const left = Math.min(150, width * 0.36);
  const [high, top] = [30, 24];
  const x = (value: number) => left + 8 + ((Math.max(-most, Math.min(most, value)) + most) / (2 * most)) * (width - left - 24);
  const height = top + compared.length * high + 8;
  return (
    <div ref={box}>
      <svg class="dots" viewBox={`0 0 ${width} ${height}`} role="img" aria-label="Change in RMSE compared with no augmentation, one dot for every split">
        {ticks(-most, most, width / 75).map((value) => (
          <g key={value}>
            <line class={value === 0 ? "zero" : ""} x1={x(value)} x2={x(value)} y1={top - 4} y2={height - 6} />
            <text class="tick" x={x(value)} y="13" text-anchor="middle">{`${value > 0 ? "+" : ""}${short(value)} %`}</text>
          </g>
        ))}
        {compared.map(({ candidate, dots }, place) => {
          const y = top + place * high + high / 2;
          const mean = dots.reduce((sum, dot) => sum + dot, 0) / dots.length;
          const found = lines?.find((line) => line.name === candidate.name);
          return (
            <g key={candidate.name}>
              <text x={left} y={y + 4} text-anchor="end">{candidate.name.length > 19 ? `${candidate.name.slice(0, 18)}…` : candidate.name}</text>
              {found?.low != null && found.high != null && <line class="interval" x1={x(found.low)} x2={x(found.high)} y1={y + 8} y2={y + 8} />}
              {dots.map((dot) => (
                <circle cx={x(dot)} cy={y} r="4" />
              ))}
              {dots.length > 0 && <line class="mean" x1={x(mean)} x2={x(mean)} y1={y - 8} y2={y + 8} />}
            </g>
          );
        })}
      </svg>
      <p class="about small">
        Dot: one split. Vertical line: their mean.{lines && " Orange: 95 % interval of the expected change."}
      </p>
    </div>
  );
}
