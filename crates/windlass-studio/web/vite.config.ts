import { defineConfig } from "vite";

// One script with a fixed name; the page and its style sheet need no build.
export default defineConfig({
  esbuild: { jsx: "automatic", jsxImportSource: "preact" },
  build: {
    outDir: "../dist",
    emptyOutDir: false,
    target: "es2022",
    modulePreload: false,
    reportCompressedSize: false,
    rollupOptions: { input: "src/main.tsx", output: { entryFileNames: "studio.js" } },
  },
});
