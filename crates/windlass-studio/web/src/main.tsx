// The page: four views over one table.

import { render } from "preact";
import type { ComponentChildren } from "preact";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import cars from "../../../../examples/auto_mpg.csv?raw";
import { Histogram, Predicted, Scatter, short, SplitDots } from "./plots";
import type { Candidate, Distribution, Line, Preview, RunEvent } from "./plots";

interface Script {
  command: string;
  python: string;
}
interface Column {
  name: string;
  type: string;
  role: string;
  reason: string;
  requested: boolean;
  missing: number;
  range: [number, number] | null;
  distinct: number | null;
  distribution: Distribution;
}
interface Note {
  text: string;
  problem: boolean;
  fix?: { label: string; set: Partial<Settings> };
}
interface Inspection {
  name: string;
  rows: number;
  columns: Column[];
  notes: Note[];
  anchors: string[];
  times: string[];
  groups: string[];
  preview: number | null;
  script: Script;
}
interface Param {
  name: string;
  help: string;
  range: string;
  default: string | null;
  search: { low: number; high: number; unit: string } | null;
}
interface Method {
  name: string;
  title: string;
  help: string;
  rare: boolean;
  params: Param[];
}
interface Named {
  name: string;
  help: string;
  default?: boolean;
  rare?: boolean;
}
interface State {
  version: string;
  tables: { id: number; name: string }[];
  methods: Method[];
  compared: Named[];
  models: Named[];
  folds: number;
  repeats: number;
  max_upload: number;
  jobs: string[];
  model: Model | null;
  report: string;
}
/** What the server takes; see settings.rs. */
interface Settings {
  table: number;
  target: string[];
  roles: Record<string, string>;
  nulls: string[];
  sheet: string | null;
  drop_missing_target: boolean;
  seed: number;
  split: string;
  method: string;
  params: Record<string, string>;
  copies: number | null;
  rare: string | null;
  clip: boolean;
  format: string;
  methods: string[] | null;
  models: string[] | null;
  folds: number | null;
  repeats: number | null;
  resume: boolean;
}
interface JobView<T> {
  status: "running" | "done" | "stopped" | "failed";
  stopping: boolean;
  stage: string;
  done: number;
  all: number;
  info: { candidates: Candidate[]; splits: number; how: string } | null;
  events: RunEvent[];
  result: T | null;
  error: string | null;
  hint: string | null;
  seconds: number;
}
interface Metrics {
  rows: number;
  rmse: number;
  mae: number;
  r2: number | null;
}
interface Model {
  rows: number;
  targets: string[];
  features: string[];
  train: Metrics;
  valid: Metrics | null;
  split: string;
  importance: { column: string; rmse_increase: number }[];
  portfolio: { name: string; weight: number; rmse: number }[];
  notes: string[];
  drift: string | null;
  held_out: { y: number[]; predicted: number[] } | null;
  inputs: { name: string; kind: "number" | "category" | "date"; range?: [number, number] | null; levels?: string[] }[];
  first: Record<string, string>;
  bytes: number;
  members: number;
}

class Refused extends Error {
  constructor(
    message: string,
    readonly hint: string | null,
  ) {
    super(message);
  }
}

/** Calls the server; its errors have a message and a hint. */
async function call<T>(path: string, body?: unknown): Promise<T> {
  const file = body instanceof Blob;
  let response: Response;
  try {
    response = await fetch(`api/${path}`, body === undefined ? {} : { method: "POST", body: file ? body : JSON.stringify(body) });
  } catch {
    throw new Refused("The server does not answer.", "start windlass studio again, and open its new address");
  }
  const answer = await response.json();
  if (!response.ok) throw new Refused(answer.error, answer.hint);
  return answer as T;
}

const NONE: Settings = {
  table: 0,
  target: [],
  roles: {},
  nulls: [],
  sheet: null,
  drop_missing_target: false,
  seed: 0,
  split: "",
  method: "ada",
  params: {},
  copies: null,
  rare: null,
  clip: false,
  format: "csv",
  methods: null,
  models: null,
  folds: null,
  repeats: null,
  resume: false,
};

const VIEWS = ["Table", "Augment", "Does it help?", "Model"] as const;
const percent = (value: number) => `${value > 0 ? "+" : value < 0 ? "−" : ""}${Math.abs(value).toFixed(1)} %`;
const size = (bytes: number) => (bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`);
/** Names of roles. */
const ROLES: Record<string, string> = {
  target: "target",
  continuous: "number",
  categorical: "category",
  date: "date",
  carried: "keep, do not use",
  excluded: "omit",
  weight: "row weight",
};
const plural = (count: number, what: string) => `${count.toLocaleString("en-US")} ${what}${count === 1 ? "" : "s"}`;

function Problem({ error }: { error: unknown }) {
  if (!error) return null;
  const { message, hint } = error as Refused;
  return (
    <div class="error" role="alert">
      <b>{message}</b>
      {hint && <div>Hint: {hint}</div>}
    </div>
  );
}

/** The command line and the Python lines of a step. */
function ScriptBox({ script }: { script: Script | null | undefined }) {
  const [python, setPython] = useState(false);
  const [copied, setCopied] = useState(false);
  if (!script) return null;
  const text = python ? script.python : script.command;
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return (
    <section class="script" aria-label="The same in a terminal or in Python">
      <div class="row">
        <span class="row" style={{ margin: 0 }}>
          <button aria-pressed={!python} onClick={() => setPython(false)}>
            Command
          </button>
          <button aria-pressed={python} onClick={() => setPython(true)}>
            Python
          </button>
        </span>
        <button onClick={copy}>{copied ? "Copied" : "Copy"}</button>
      </div>
      <pre tabIndex={0}>{text}</pre>
    </section>
  );
}

/** A field for files: by drop or by dialog. */
function Drop({ take, little, children }: { take: (file: File) => void; little?: boolean; children?: ComponentChildren }) {
  const [over, setOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const first = (files: FileList | null | undefined) => {
    const file = files?.[0];
    if (file) take(file);
  };
  return (
    <div
      class={`drop${over ? " over" : ""}${little ? " little" : ""}`}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        first(event.dataTransfer?.files);
      }}
    >
      <h2>{little ? "Drop new rows here to predict them" : "Drop a table here"}</h2>
      <div class="row">
        <button class={little ? "" : "main"} onClick={() => input.current?.click()}>
          Choose a file
        </button>
        {children}
      </div>
      <input
        ref={input}
        type="file"
        class="hidden"
        tabIndex={-1}
        aria-label={little ? "File of rows to predict" : "Table file"}
        accept=".csv,.tsv,.txt,.gz,.zst,.parquet,.arrow,.arrows,.feather,.xlsx,.ods"
        onChange={(event) => {
          first(event.currentTarget.files);
          event.currentTarget.value = "";
        }}
      />
      <div class="about small">CSV, TSV, Parquet, Arrow, Excel or OpenDocument</div>
    </div>
  );
}

/** A job of the server: polled while it runs, and found again after a reload. */
function useJob<T>(kind: string, known: boolean) {
  const [view, setView] = useState<JobView<T> | null>(null);
  const [error, setError] = useState<unknown>(null);
  const events = useRef<RunEvent[]>([]);
  const timer = useRef(0);
  const poll = useCallback(async () => {
    clearTimeout(timer.current);
    try {
      const next = await call<JobView<T> | null>(`job/${kind}?since=${events.current.length}`);
      if (!next) return setView(null);
      events.current = [...events.current, ...next.events];
      setView({ ...next, events: events.current });
      if (next.status === "running") timer.current = window.setTimeout(poll, 250);
    } catch (error) {
      setError(error);
    }
  }, [kind]);
  useEffect(() => {
    if (known) void poll();
    return () => clearTimeout(timer.current);
  }, []);
  const start = async (settings: Partial<Settings>) => {
    setError(null);
    try {
      await call(`job/${kind}`, settings);
      events.current = [];
      await poll();
    } catch (error) {
      setError(error);
    }
  };
  const stop = () => call(`job/${kind}/stop`, {}).then(poll, setError);
  const failed = view?.status === "failed" ? new Refused(view.error ?? "", view.hint) : null;
  return { view, start, stop, running: view?.status === "running", error: error ?? failed };
}

function Progress({ job, what }: { job: { view: JobView<unknown> | null; stop: () => void; running: boolean }; what: string }) {
  if (!job.running || !job.view) return null;
  const { done, all, stage, stopping, seconds } = job.view;
  const left = all > 0 && done > 2 && done < all ? `, about ${Math.ceil((seconds / done) * (all - done))} s left` : "";
  return (
    <div class="row" role="status">
      <progress aria-label={what} {...(all > 0 ? { value: Math.min(done, all), max: all } : {})} />
      <span class="small about">
        {stopping ? "stopping…" : `${stage}${all > 0 ? `: ${done} of ${all}` : ""}${left}`}
      </span>
      <button onClick={job.stop} disabled={stopping}>
        Stop
      </button>
    </div>
  );
}

interface ViewProps {
  state: State;
  settings: Settings;
  change: (changes: Partial<Settings>) => void;
  table: Inspection;
}

function TableView({ settings, change, table, go }: ViewProps & { go: (view: number) => void }) {
  const target = settings.target[0] ?? "";
  const numeric = table.columns.filter((column) => column.range !== null && column.role !== "excluded");
  const setRole = (name: string, role: string) => {
    const { [name]: _, ...others } = settings.roles;
    const targets = settings.target.filter((other) => other !== name);
    if (role === "target") change({ target: [...targets, name], roles: others });
    else change({ target: targets, roles: role === "auto" ? others : { ...others, [name]: role } });
  };
  const choose = (name: string) => {
    const { [name]: _, ...others } = settings.roles;
    change({ target: name ? [name] : [], roles: others });
  };
  const fix = (set: Partial<Settings>) =>
    change({
      ...set,
      // Another sheet has other columns.
      ...(set.sheet ? { target: [], roles: {} } : {}),
      ...(set.roles ? { roles: { ...settings.roles, ...set.roles } } : {}),
      ...(set.nulls ? { nulls: [...settings.nulls, ...set.nulls] } : {}),
    });
  const changed = settings.nulls.length > 0 || settings.sheet !== null || settings.drop_missing_target || Object.keys(settings.roles).length > 0 || settings.split !== "";
  return (
    <>
      <h1>{table.name}</h1>
      <p class="about">
        {plural(table.rows, "row")}, {plural(table.columns.length, "column")}
      </p>
      <div class="row">
        <label>
          <b>Predict</b>
          <select aria-label="Target: the column to predict" value={target} onChange={(event) => choose(event.currentTarget.value)}>
            <option value="">choose a column…</option>
            {numeric.map(({ name }) => (
              <option value={name}>{name}</option>
            ))}
          </select>
        </label>
        {settings.target.length > 1 && <span class="about">and {settings.target.slice(1).join(", ")}</span>}
        {target && !table.notes.some((note) => note.problem) && (
          <button class="main" onClick={() => go(1)}>
            See augmentation
          </button>
        )}
        {changed && (
          <button onClick={() => change({ nulls: [], sheet: null, drop_missing_target: false, roles: {}, split: "" })}>Undo all changes</button>
        )}
      </div>
      {!target && <div class="verdict">Which column do you want to predict? Choose it above; it must have numbers.</div>}
      {table.notes.length > 0 && (
        <ul class="notes" aria-label="Notes on the table">
          {table.notes.map((note) => (
            <li class={note.problem ? "problem" : ""}>
              <span>{note.text}</span>
              {note.fix && <button onClick={() => fix(note.fix!.set)}>{note.fix.label}</button>}
            </li>
          ))}
        </ul>
      )}
      <table class="columns">
        <thead>
          <tr>
            <th>column</th>
            <th>role</th>
            <th>because</th>
            <th class="n">missing</th>
            <th class="n">distinct</th>
            <th class="n">range</th>
            <th>values</th>
          </tr>
        </thead>
        <tbody>
          {table.columns.map((column) => {
            const ignored = column.role === "carried" || column.role === "excluded";
            return (
              <tr class={column.role === "target" ? "target" : ignored ? "ignored" : ""}>
                <td>{column.name}</td>
                <td>
                  <select
                    aria-label={`Role of ${column.name}`}
                    value={column.requested ? column.role : "auto"}
                    onChange={(event) => setRole(column.name, event.currentTarget.value)}
                  >
                    <option value="auto">{column.requested ? "automatic" : ROLES[column.role]}</option>
                    {Object.entries(ROLES)
                      .filter(([role]) => role !== "date" && (column.range || (role !== "target" && role !== "weight")))
                      .filter(([role]) => column.requested || role !== column.role)
                      .map(([role, name]) => (
                        <option value={role}>{name}</option>
                      ))}
                  </select>
                </td>
                <td class="why">{column.requested ? `chosen (${column.reason})` : column.reason}</td>
                <td class="n" data-label="missing">
                  {column.missing || "0"}
                </td>
                <td class="n" data-label="distinct">
                  {column.distinct ?? "many"}
                </td>
                <td class="n" data-label="range">
                  {column.range ? `${short(column.range[0])} to ${short(column.range[1])}` : "–"}
                </td>
                <td class="picture-cell">
                  <Histogram of={column.distribution} name={column.name} />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      <ScriptBox script={table.script} />
    </>
  );
}

/** A whole number that is typed; text that is none, or out of range, changes nothing until it is complete. */
function Count({ value, low, high, set }: { value: number; low: number; high: number; set: (value: number) => void }) {
  const [text, setText] = useState(String(value));
  useEffect(() => setText(String(value)), [value]);
  return (
    <input
      type="number"
      min={low}
      max={high}
      value={text}
      onInput={(event) => {
        const typed = event.currentTarget.value;
        setText(typed);
        const number = Number(typed);
        if (typed !== "" && Number.isInteger(number) && number >= low && number <= high) set(number);
      }}
      onBlur={() => setText(String(value))}
    />
  );
}

/** A slider; on a logarithmic scale if asked. */
function Slider(props: {
  label: string;
  help?: string;
  value: number;
  low: number;
  high: number;
  log?: boolean;
  step?: number;
  text: string;
  set: (value: number) => void;
}) {
  const { low, high, log } = props;
  const to = (value: number) => (log ? Math.log(value) : value);
  const from = (value: number) => (log ? Number(Math.exp(value).toPrecision(3)) : value);
  return (
    <label class="field">
      <span>
        {props.label}
        <em aria-hidden="true">{props.text}</em>
      </span>
      <input
        type="range"
        aria-valuetext={props.text}
        min={to(low)}
        max={to(high)}
        step={props.step ?? (to(high) - to(low)) / 200}
        value={to(props.value)}
        onInput={(event) => props.set(from(Number(event.currentTarget.value)))}
      />
      {props.help && <small>{props.help}</small>}
    </label>
  );
}

function ParamField({ param, value, set }: { param: Param; value: string | undefined; set: (text: string | null) => void }) {
  const label = param.name.replaceAll("_", " ");
  const [text, setText] = useState(value ?? "");
  useEffect(() => setText(value ?? ""), [value]);
  if (param.search) {
    const { low, high, unit } = param.search;
    const number = Number.parseFloat(value ?? param.default ?? "");
    const known = Number.isFinite(number) ? number : Math.sqrt(low * high);
    return (
      <Slider
        label={param.name === "alpha" ? "strength α" : label}
        help={param.help}
        low={Math.min(low, known)}
        high={Math.max(high, known)}
        log
        value={known}
        text={value ?? (param.default ? short(known, 3) : "default")}
        set={(number) => set(`${number}${unit}`)}
      />
    );
  }
  return (
    <label class="field">
      <span>{label}</span>
      <input
        type="text"
        value={text}
        placeholder={param.default ?? ""}
        onInput={(event) => setText(event.currentTarget.value)}
        onChange={(event) => set(event.currentTarget.value.trim() || null)}
      />
      <small>
        {param.help}: {param.range}
      </small>
    </label>
  );
}

interface Similar {
  words: string;
  similarity: {
    columns: { name: string; role: string; real: Moments; synthetic: Moments; outside: number; levels: string[] }[];
    correlations: { columns: [string, string]; real: number; synthetic: number }[];
    correlation_difference: number | null;
  };
}
interface Moments {
  mean: number | null;
  sd: number | null;
  min: number | null;
  max: number | null;
}

function AugmentView({ state, settings, change, table }: ViewProps) {
  const method = state.methods.find(({ name }) => name === settings.method)!;
  const shown = table.columns.filter((column) => column.role !== "excluded");
  const target = settings.target[0]!;
  // Without a name, the server chooses the column that is most correlated with the target.
  const [axes, setAxes] = useState<[string, string]>(["", target]);
  const [byGroup, setByGroup] = useState(true);
  const [preview, setPreview] = useState<Preview | null>(null);
  const [drawn, setDrawn] = useState<{ since: number; names: [string, string] }>({ since: 0, names: axes });
  const [error, setError] = useState<unknown>(null);
  const [similar, setSimilar] = useState<Similar | null>(null);
  const job = useJob<{ file: string }>("augment", false);
  // One request at a time, and always the latest settings: a slider that moves faster skips pictures.
  const wanted = useRef<{ settings: Settings; axes: [string, string]; since: number } | null>(null);
  const busy = useRef(false);
  const moved = useRef(0);
  const names = (name: string) => (shown.some((column) => column.name === name) ? name : "");
  const request = async () => {
    if (busy.current || !wanted.current) return;
    busy.current = true;
    const { settings, axes, since } = wanted.current;
    wanted.current = null;
    try {
      const found = await call<Preview>("preview", { settings, x: axes[0], y: axes[1] });
      setPreview(found);
      setDrawn({ since, names: found.names });
      setError(null);
    } catch (error) {
      setError(error);
    }
    busy.current = false;
    void request();
  };
  useLayoutEffect(() => {
    wanted.current = { settings, axes: [names(axes[0]), names(axes[1])], since: moved.current };
    void request();
    // Marginals and correlations follow when the slider rests.
    const timer = setTimeout(() => call<Similar>("similarity", settings).then(setSimilar, () => setSimilar(null)), 400);
    return () => clearTimeout(timer);
  }, [settings, axes]);
  const move = (changes: Partial<Settings>) => {
    moved.current = performance.now();
    change(changes);
  };
  const setParam = (name: string, text: string | null) => {
    const { [name]: _, ...others } = settings.params;
    move({ params: text === null ? others : { ...others, [name]: text } });
  };
  const ada = method.name === "ada";
  const fixed = settings.params.gamma !== undefined && Number.isFinite(Number(settings.params.gamma));
  const anchors = settings.params.anchors ?? "kmeans";
  const clusters = Number(settings.params.clusters ?? 0);
  const plain = ["anchors", "clusters", "alpha", "gamma"];
  const main = method.params.filter((param) => param.search && !plain.includes(param.name));
  const more = method.params.filter((param) => !main.includes(param) && !(ada && plain.includes(param.name)));
  const axis = (place: 0 | 1, label: string) => (
    <label>
      {label}
      <select
        value={names(axes[place]) || drawn.names[place]}
        onChange={(event) => {
          const name = event.currentTarget.value;
          setAxes(place === 0 ? [name, axes[1]] : [axes[0], name]);
        }}
      >
        {shown.map(({ name }) => (
          <option value={name}>{name}</option>
        ))}
      </select>
    </label>
  );
  const save = async (format: string) => {
    await job.start({ ...settings, format });
  };
  useEffect(() => {
    if (job.view?.status !== "done" || !job.view.result) return;
    const link = document.createElement("a");
    link.href = `file/${job.view.result.file}`;
    link.download = job.view.result.file;
    link.click();
    // Two tables in a row have the same status, but not the same duration.
  }, [job.view?.status, job.view?.seconds]);
  return (
    <>
      <h1>See augmentation</h1>
      <p class="about">
        Synthetic rows are made from yours. Move the sliders and look: do they still look like rows that you could have measured?
      </p>
      <Problem error={error} />
      <div class="split">
        <section aria-label="Settings">
          <label class="field">
            <span>method</span>
            <select value={settings.method} onChange={(event) => move({ method: event.currentTarget.value, params: {}, rare: null })}>
              {state.methods.map(({ name, title }) => (
                <option value={name}>{title}</option>
              ))}
            </select>
            <small>{method.help}</small>
          </label>
          {ada && (
            <>
              <label class="field">
                <span>groups</span>
                <select
                  value={anchors}
                  onChange={(event) => {
                    const { anchors: _, clusters: __, ...others } = settings.params;
                    const value = event.currentTarget.value;
                    move({ params: value === "kmeans" ? others : { ...others, anchors: value } });
                  }}
                >
                  <option value="kmeans">similar rows (k-means)</option>
                  {table.anchors.map((name) => (
                    <option value={`column:${name}`}>{`same ${name}`}</option>
                  ))}
                </select>
              </label>
              {anchors === "kmeans" && (
                <Slider
                  label="number of groups"
                  low={1}
                  high={40}
                  step={1}
                  value={clusters || 1}
                  text={clusters ? String(clusters) : "automatic"}
                  set={(count) => setParam("clusters", count < 2 ? null : String(count))}
                />
              )}
              <label class="field">
                <span>strength</span>
                <select
                  value={fixed ? "fixed" : "random"}
                  onChange={(event) => {
                    const { gamma: _, alpha: __, ...others } = settings.params;
                    move({ params: event.currentTarget.value === "fixed" ? { ...others, gamma: "0.5" } : others });
                  }}
                >
                  <option value="random">γ differs from row to row</option>
                  <option value="fixed">one γ for all rows</option>
                </select>
              </label>
              {fixed ? (
                <Slider
                  label="γ"
                  help="above 1: toward the mean of the group; below 1: away from it"
                  low={0.1}
                  high={10}
                  log
                  value={Number(settings.params.gamma)}
                  text={settings.params.gamma!}
                  set={(gamma) => setParam("gamma", String(gamma))}
                />
              ) : (
                <ParamField param={method.params.find(({ name }) => name === "alpha")!} value={settings.params.alpha} set={(text) => setParam("alpha", text)} />
              )}
            </>
          )}
          {main.map((param) => (
            <ParamField key={param.name} param={param} value={settings.params[param.name]} set={(text) => setParam(param.name, text)} />
          ))}
          <Slider
            label="synthetic rows per row"
            low={1}
            high={20}
            step={1}
            value={settings.copies ?? 1}
            text={String(settings.copies ?? (method.rare || settings.rare ? "automatic" : 1))}
            set={(copies) => move({ copies })}
          />
          <label class="field">
            <span>random seed</span>
            <Count value={settings.seed} low={0} high={2 ** 53 - 1} set={(seed) => move({ seed })} />
          </label>
          <details>
            <summary>More settings</summary>
            <label class="field">
              <span>rows to start from</span>
              <select value={settings.rare ?? ""} onChange={(event) => move({ rare: event.currentTarget.value || null, copies: null })}>
                <option value="">{method.rare ? "rare targets, high and low" : "all rows"}</option>
                <option value="high">rows with a rare high target</option>
                <option value="low">rows with a rare low target</option>
                <option value="both">rows with a rare high or low target</option>
                <option value="density">rows in sparse ranges of the target</option>
              </select>
            </label>
            <label class="row">
              <input type="checkbox" checked={settings.clip} onChange={(event) => move({ clip: event.currentTarget.checked })} />
              clip to the observed range
            </label>
            {more.map((param) => (
              <ParamField key={param.name} param={param} value={settings.params[param.name]} set={(text) => setParam(param.name, text)} />
            ))}
          </details>
        </section>
        <section class="first" aria-label="Original and synthetic rows">
          <div class="axes">
            {axis(0, "x")}
            {axis(1, "y")}
            {preview && preview.synthetic.group.length > 0 && (
              <label>
                <input type="checkbox" checked={byGroup} onChange={(event) => setByGroup(event.currentTarget.checked)} />
                color by group
              </label>
            )}
          </div>
          {preview && <Scatter data={preview} names={drawn.names} byGroup={byGroup} since={drawn.since} />}
          {preview?.sampled && (
            <p class="about small">
              Drawn and augmented here: a sample of {plural(preview.sampled, "row")}. The download has all of them.
            </p>
          )}
          <div class="row">
            <button class="main" disabled={job.running || !!error} onClick={() => save("csv")}>
              Download CSV
            </button>
            <button disabled={job.running || !!error} onClick={() => save("parquet")}>
              Download Parquet
            </button>
            <span class="about small">with the source, group and strength of each row</span>
          </div>
          <Progress job={job} what="Writing the augmented table" />
          <Problem error={job.error} />
          <p class="about small">Augment training rows only: split before you augment, or the test error is too low.</p>
        </section>
      </div>
      {similar && <Similarity found={similar} />}
      <ScriptBox script={preview?.script} />
    </>
  );
}

function Similarity({ found }: { found: Similar }) {
  const { columns, correlations, correlation_difference: difference } = found.similarity;
  const numeric = columns.filter((column) => column.levels.length === 0 && column.role !== "date").slice(0, 30);
  return (
    <div class="cards">
      <section>
        <h2>Columns before and after</h2>
        <p class="about small">{found.words}</p>
        <div class="scroll">
          <table>
            <thead>
              <tr>
                <th>column</th>
                <th class="n">mean</th>
                <th class="n">synthetic</th>
                <th class="n">sd</th>
                <th class="n">synthetic</th>
                <th class="n">outside</th>
              </tr>
            </thead>
            <tbody>
              {numeric.map((column) => (
                <tr>
                  <td>{column.name}</td>
                  <td class="n">{short(column.real.mean)}</td>
                  <td class="n">{short(column.synthetic.mean)}</td>
                  <td class="n">{short(column.real.sd, 3)}</td>
                  <td class="n">{short(column.synthetic.sd, 3)}</td>
                  <td class="n">{column.outside}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </section>
      <section>
        <h2>Correlations before and after</h2>
        <p class="about small">{difference === null ? "There is nothing to compare." : `They differ by ${short(difference, 2)} on average. The largest differences:`}</p>
        <div class="scroll">
          <table>
            <thead>
              <tr>
                <th>columns</th>
                <th class="n">original</th>
                <th class="n">synthetic</th>
              </tr>
            </thead>
            <tbody>
              {correlations.slice(0, 8).map((pair) => (
                <tr>
                  <td>{pair.columns.join(", ")}</td>
                  <td class="n">{short(pair.real, 3)}</td>
                  <td class="n">{short(pair.synthetic, 3)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </section>
    </div>
  );
}

/** How rows are held out. */
function SplitField({ settings, change, table }: ViewProps) {
  const groups = table.groups.filter((name) => !settings.target.includes(name));
  return (
    <label class="field">
      <span>new rows will be</span>
      <select value={settings.split} onChange={(event) => change({ split: event.currentTarget.value })}>
        <option value="">like these rows (random rows are held out)</option>
        {table.times.map((name) => (
          <option value={`time:${name}`}>{`later in ${name}`}</option>
        ))}
        {groups.map((name) => (
          <option value={`group:${name}`}>{`of another ${name}`}</option>
        ))}
        {groups.map((name) => (
          <option value={`domain:${name}`}>{`of another ${name}, one ${name} at a time`}</option>
        ))}
      </select>
    </label>
  );
}

function useScript(step: string, settings: Settings): Script | null {
  const [script, setScript] = useState<Script | null>(null);
  useEffect(() => {
    let current = true;
    call<Script>(`script/${step}`, settings).then((script) => current && setScript(script), () => current && setScript(null));
    return () => {
      current = false;
    };
  }, [settings]);
  return script;
}

interface Outcome {
  verdict: string;
  answer: string;
  helps: boolean;
  remarks: string[];
  next: string | null;
  command: string | null;
  lines: Line[];
}

function CompareView(props: ViewProps) {
  const { state, settings, change } = props;
  const job = useJob<Outcome>("compare", state.jobs.includes("compare"));
  const script = useScript("compare", settings);
  const methods = settings.methods ?? state.compared.filter((method) => method.default).map(({ name }) => name);
  const models = settings.models ?? ["mlp", "ridge", "forest", "auto"];
  const toggle = (list: string[], name: string) => (list.includes(name) ? list.filter((other) => other !== name) : [...list, name]);
  const result = job.view?.status === "done" ? job.view.result : null;
  const offered = state.compared.filter((method) => !method.rare);
  const ordered = (list: string[]) => state.models.map(({ name }) => name).filter((name) => list.includes(name));
  return (
    <>
      <h1>Does it help?</h1>
      <p class="about">
        Every candidate is trained on the same rows and tested on the same held-out rows, {settings.folds ?? state.folds} folds ×{" "}
        {settings.repeats ?? state.repeats} repeats. A dot is one split: left of the line is better than no augmentation.
      </p>
      <details open={!job.view}>
        <summary>What to compare</summary>
        <div class="cards">
          <section>
            <fieldset class="checks">
              <legend>augmentations of a network</legend>
              {offered.map(({ name, help }) => (
                <label title={help}>
                  <input
                    type="checkbox"
                    checked={methods.includes(name)}
                    disabled={name === "none"}
                    onChange={() => change({ methods: toggle(methods, name) })}
                  />
                  {name}
                </label>
              ))}
            </fieldset>
          </section>
          <section>
            <fieldset class="checks">
              <legend>models</legend>
              {state.models.map(({ name, help }) => (
                <label title={help}>
                  <input
                    type="checkbox"
                    checked={models.includes(name)}
                    disabled={name === "mlp"}
                    onChange={() => change({ models: ordered(toggle(models, name)) })}
                  />
                  {name === "mlp" ? "network" : name}
                </label>
              ))}
            </fieldset>
            <SplitField {...props} />
            <div class="row">
              <label>
                folds
                <Count value={settings.folds ?? state.folds} low={2} high={1000} set={(folds) => change({ folds })} />
              </label>
              <label>
                repeats
                <Count value={settings.repeats ?? state.repeats} low={1} high={1000} set={(repeats) => change({ repeats })} />
              </label>
            </div>
          </section>
        </div>
      </details>
      <div class="row">
        <button class="main" disabled={job.running} onClick={() => job.start({ ...settings, resume: false })}>
          {job.view ? "Compare again" : "Compare"}
        </button>
        {job.view?.status === "stopped" && (
          <button class="main" onClick={() => job.start({ ...settings, resume: true })}>
            Resume
          </button>
        )}
        {job.view?.status === "stopped" && <span class="about">Stopped after {plural(job.view.events.length, "run")}, which are kept.</span>}
      </div>
      <Progress job={job} what="Comparing" />
      <Problem error={job.error} />
      {result && (
        <div class={`verdict${result.helps ? " good" : ""}`}>
          <p class="answer">{result.answer}</p>
          <p>{result.verdict}</p>
          {result.next && (
            <p>
              <b>Next step: {result.next}.</b>
            </p>
          )}
          {result.command && <pre>{result.command}</pre>}
        </div>
      )}
      {job.view?.info && <SplitDots candidates={job.view.info.candidates} events={job.view.events} lines={result?.lines ?? null} />}
      {result && (
        <>
          <div class="scroll">
            <table>
              <thead>
                <tr>
                  <th>candidate</th>
                  <th class="n">RMSE</th>
                  <th class="n">change</th>
                  <th class="n">95 % interval</th>
                  <th>verdict</th>
                </tr>
              </thead>
              <tbody>
                {result.lines.map((line) => (
                  <tr>
                    <td>{line.name}</td>
                    <td class="n">{short(line.rmse)}</td>
                    <td class="n">{line.mean === null ? "" : percent(line.mean)}</td>
                    <td class="n">{line.low === null || line.high === null ? "" : `${percent(line.low)} … ${percent(line.high)}`}</td>
                    <td class={line.finding === "better" || line.finding === "worse" ? line.finding : ""}>{line.finding}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          <div class="row" style={{ marginTop: "1rem" }}>
            <a class="button" href="file/report.html" download="report.html">
              Download the report
            </a>
            <a class="button" href="file/results.json" download="results.json">
              Download all numbers
            </a>
          </div>
          <h2>Report</h2>
          <iframe key={job.view?.seconds} title="Report of the comparison" src={`${state.report}?${job.view?.seconds}`} sandbox="allow-scripts" />
        </>
      )}
      <ScriptBox script={script} />
    </>
  );
}

interface Predictions {
  file: string;
  table: string;
  rows: number;
  level: number | null;
  columns: string[];
  shown: number[][];
  notes: string[];
  metrics: Metrics | null;
  script: Script;
}
interface Cost {
  valid: Metrics | null;
  bytes: number;
  microseconds: number;
}
interface Distilled {
  teacher: Cost;
  student: Cost;
  difference: string | null;
  script: Script;
}

function ModelView(props: ViewProps) {
  const { state, settings } = props;
  const job = useJob<Model>("train", state.jobs.includes("train"));
  const script = useScript("train", settings);
  const model = job.view?.status === "done" ? job.view.result : job.view ? null : state.model;
  return (
    <>
      <h1>Model</h1>
      <p class="about">
        Networks, linear models, trees and a Gaussian process are fitted and averaged with the weights that minimize the error of
        held-out rows.
      </p>
      <SplitField {...props} />
      <div class="row">
        <button class="main" disabled={job.running} onClick={() => job.start({ ...settings, resume: false })}>
          {model ? "Train again" : "Train a model"}
        </button>
        {job.view?.status === "stopped" && <span class="about">Stopped.</span>}
      </div>
      <Progress job={job} what="Training" />
      <Problem error={job.error} />
      {model && <ModelResult model={model} settings={settings} state={state} />}
      <ScriptBox script={script} />
    </>
  );
}

function ModelResult({ model, settings, state }: { model: Model; settings: Settings; state: State }) {
  const expected = model.valid;
  const target = model.targets[0]!;
  const most = Math.max(1e-12, ...model.importance.map(({ rmse_increase }) => rmse_increase));
  const members = model.portfolio.filter(({ weight }) => weight > 0);
  const distill = useJob<Distilled>("distill", state.jobs.includes("distill"));
  const small = distill.view?.status === "done" ? distill.view.result : null;
  return (
    <>
      {expected && (
        <div class="verdict good">
          <p>Expected error for new rows, measured on {plural(expected.rows, "row")} that were held out in turn:</p>
          <div class="numbers">
            <div>
              <b>{short(expected.rmse)}</b>
              RMSE
            </div>
            <div>
              <b>{short(expected.mae)}</b>
              mean absolute error
            </div>
            <div>
              <b>{expected.r2 === null ? "–" : expected.r2.toFixed(3)}</b>R²
            </div>
          </div>
        </div>
      )}
      {(model.notes.length > 0 || model.drift) && (
        <ul class="notes">
          {[...model.notes, ...(model.drift ? [`Drift: ${model.drift}`] : [])].map((note) => (
            <li>
              <span>{note}</span>
            </li>
          ))}
        </ul>
      )}
      <div class="cards">
        {model.held_out && (
          <section>
            <h2>Predicted and true {target} of held-out rows</h2>
            <Predicted y={model.held_out.y} predicted={model.held_out.predicted} name={target} />
          </section>
        )}
        <section>
          <h2>Which columns matter</h2>
          <p class="about small">Increase in RMSE if the values of the column are shuffled</p>
          <div class="meter">
            {model.importance.slice(0, 12).map(({ column, rmse_increase: by }) => (
              <>
                <span title={column}>{column}</span>
                <div>
                  <i style={{ width: `${Math.max(0, 100 * (by / most))}%` }} />
                </div>
                <b>{short(by, 3)}</b>
              </>
            ))}
          </div>
          <h2 style={{ marginTop: "1.5rem" }}>The ensemble</h2>
          <div class="scroll">
            <table>
              <thead>
                <tr>
                  <th>model</th>
                  <th class="n">weight</th>
                  <th class="n">RMSE alone</th>
                </tr>
              </thead>
              <tbody>
                {members.map(({ name, weight, rmse }) => (
                  <tr>
                    <td>{name}</td>
                    <td class="n">{Math.round(100 * weight)} %</td>
                    <td class="n">{short(rmse)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </section>
      </div>
      <TypedRow model={model} />
      <PredictTable settings={settings} state={state} />
      <h2>Take it with you</h2>
      <div class="row">
        <a class="button main" href="file/model.windlass" download="model.windlass">
          Model ({size(model.bytes)})
        </a>
        <a class="button" href="file/model.onnx" download="model.onnx">
          ONNX
        </a>
        <a class="button" href="file/model.h" download="model.h">
          C code
        </a>
      </div>
      <p class="about">Or distill it into one small network, for a sensor or a spreadsheet: about the same error, a fraction of the size.</p>
      <div class="row">
        <button disabled={distill.running} onClick={() => distill.start({})}>
          Distill
        </button>
        {small && (
          <>
            <a class="button" href="file/small.windlass" download="small.windlass">
              Small model ({size(small.student.bytes)})
            </a>
            <a class="button" href="file/small.h" download="small.h">
              Small C code
            </a>
            <a class="button" href="file/small.onnx" download="small.onnx">
              Small ONNX
            </a>
          </>
        )}
      </div>
      <Progress job={distill} what="Distilling" />
      <Problem error={distill.error} />
      {small && (
        <>
          <div class="scroll">
            <table>
              <thead>
                <tr>
                  <th />
                  <th class="n">expected RMSE</th>
                  <th class="n">size</th>
                  <th class="n">time for a row</th>
                </tr>
              </thead>
              <tbody>
                {(["teacher", "student"] as const).map((who) => (
                  <tr>
                    <td>{who === "teacher" ? "ensemble" : "small network"}</td>
                    <td class="n">{short(small[who].valid?.rmse)}</td>
                    <td class="n">{size(small[who].bytes)}</td>
                    <td class="n">{short(small[who].microseconds, 3)} µs</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          {small.difference && <p class="about small">The RMSE of the small network is {small.difference}.</p>}
          <ScriptBox script={small.script} />
        </>
      )}
    </>
  );
}

interface RowPrediction {
  targets: string[];
  prediction: number[];
  low: number[] | null;
  high: number[] | null;
  level: number | null;
  notes: string[];
}

function TypedRow({ model }: { model: Model }) {
  const [values, setValues] = useState<Record<string, string>>(() =>
    Object.fromEntries(model.inputs.map(({ name }) => [name, model.first[name] ?? ""])),
  );
  const [found, setFound] = useState<RowPrediction | null>(null);
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    let current = true;
    const timer = setTimeout(() => {
      call<RowPrediction>("predict", values).then(
        (found) => {
          if (!current) return;
          setFound(found);
          setError(null);
        },
        (error) => current && setError(error),
      );
    }, 120);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [values]);
  const set = (name: string, value: string) => setValues({ ...values, [name]: value });
  return (
    <section>
      <h2>Predict one row</h2>
      <div class="typed">
        {model.inputs.map((input) => (
          <label>
            <span title={input.name}>{input.name}</span>
            {input.kind === "category" ? (
              <select value={values[input.name] ?? ""} onChange={(event) => set(input.name, event.currentTarget.value)}>
                <option value="">missing</option>
                {(input.levels ?? []).map((level) => (
                  <option value={level}>{level}</option>
                ))}
              </select>
            ) : (
              <input type="text" inputMode={input.kind === "number" ? "decimal" : "text"} placeholder="missing" value={values[input.name] ?? ""} onInput={(event) => set(input.name, event.currentTarget.value)} />
            )}
            {input.range && (
              <small>
                {short(input.range[0])} to {short(input.range[1])}
              </small>
            )}
          </label>
        ))}
      </div>
      <Problem error={error} />
      {found && !error && (
        <div class={found.notes.length ? "verdict bad" : "verdict good"} role="status">
          {found.targets.map((target, place) => (
            <p>
              {target}: <b class="answer">{short(found.prediction[place])}</b>
              {found.low && found.high && found.level && (
                <>
                  {" "}
                  {Math.round(100 * found.level)} % of new rows are between <b>{short(found.low[place])}</b> and <b>{short(found.high[place])}</b>
                </>
              )}
            </p>
          ))}
          {found.notes.map((note) => (
            <p>
              <b>Careful:</b> {note.replace(/^1 row has a value/, "it has a value")}.
            </p>
          ))}
        </div>
      )}
    </section>
  );
}

function PredictTable({ settings, state }: { settings: Settings; state: State }) {
  const job = useJob<Predictions>("predict", state.jobs.includes("predict"));
  const [error, setError] = useState<unknown>(null);
  const take = async (file: File) => {
    setError(null);
    try {
      const { id } = await upload(file, state.max_upload);
      await job.start({ table: id, nulls: settings.nulls });
    } catch (error) {
      setError(error);
    }
  };
  const found = job.view?.status === "done" ? job.view.result : null;
  return (
    <section>
      <h2>Predict a table</h2>
      <Drop take={take} little />
      <Progress job={job} what="Predicting" />
      <Problem error={error ?? job.error} />
      {found && (
        <>
          <div class="row" style={{ marginTop: ".75rem" }}>
            <a class="button main" href="file/predictions.csv" download="predictions.csv">
              Download {plural(found.rows, "prediction")}
            </a>
            {found.metrics && (
              <span>
                RMSE on the {plural(found.metrics.rows, "row")} with a target: <b>{short(found.metrics.rmse)}</b>
              </span>
            )}
          </div>
          {found.notes.length > 0 && (
            <ul class="notes">
              {found.notes.map((note) => (
                <li>
                  <span>{note}</span>
                </li>
              ))}
            </ul>
          )}
          <div class="scroll">
            <table>
              <thead>
                <tr>
                  <th class="n">row</th>
                  {found.columns.map((name) => (
                    <th class="n">{name.replaceAll("_", " ")}</th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {found.shown.slice(0, 8).map((row, place) => (
                  <tr>
                    <td class="n">{place + 1}</td>
                    {row.map((value) => (
                      <td class="n">{short(value)}</td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          <ScriptBox script={found.script} />
        </>
      )}
    </section>
  );
}

async function upload(file: File, most: number): Promise<{ id: number; name: string }> {
  if (file.size > most)
    throw new Refused(`The file is larger than ${size(most)}.`, "start windlass studio FILE, or use the command, which streams files of any size");
  return call(`tables?name=${encodeURIComponent(file.name)}`, file);
}

function App() {
  const [state, setState] = useState<State | null>(null);
  const [settings, setSettings] = useState<Settings>(NONE);
  const [table, setTable] = useState<Inspection | null>(null);
  const [view, setView] = useState(0);
  const [error, setError] = useState<unknown>(null);
  const [waiting, setWaiting] = useState(false);
  const heading = useRef<HTMLElement>(null);

  const open = (id: number) => {
    setTable(null);
    setView(0);
    setSettings({ ...NONE, table: id });
  };
  useEffect(() => {
    call<State>("state").then((state) => {
      setState(state);
      const last = state.tables.at(-1);
      if (last) open(last.id);
    }, setError);
    // A file that is dropped beside the field must not replace the page.
    const ignore = (event: DragEvent) => event.preventDefault();
    window.addEventListener("dragover", ignore);
    window.addEventListener("drop", ignore);
    return () => {
      window.removeEventListener("dragover", ignore);
      window.removeEventListener("drop", ignore);
    };
  }, []);
  // What the columns depend on; sliders of the augmentation do not read the table again.
  const { table: id, target, roles, nulls, sheet, drop_missing_target, split } = settings;
  const key = JSON.stringify([id, target, roles, nulls, sheet, drop_missing_target, split]);
  useEffect(() => {
    if (!id) return;
    let current = true;
    setWaiting(true);
    call<Inspection>("inspect", { table: id, target, roles, nulls, sheet, drop_missing_target, split }).then(
      (found) => {
        if (!current) return;
        setTable(found);
        setError(null);
        setWaiting(false);
      },
      (error) => {
        if (!current) return;
        setError(error);
        setWaiting(false);
      },
    );
    return () => {
      current = false;
    };
  }, [key]);
  const take = async (file: File) => {
    if (!state) return;
    setError(null);
    setWaiting(true);
    try {
      const { id, name } = await upload(file, state.max_upload);
      setState({ ...state, tables: [...state.tables, { id, name }], jobs: [], model: null });
      open(id);
    } catch (error) {
      setError(error);
      setWaiting(false);
    }
  };
  const change = useCallback((changes: Partial<Settings>) => setSettings((before) => ({ ...before, ...changes })), []);
  const go = (view: number) => {
    setView(view);
    window.scrollTo(0, 0);
    heading.current?.focus();
  };
  const ready = settings.target.length > 0 && table !== null && !table.notes.some((note) => note.problem);
  const shown = useMemo(() => ({ state, settings, change, table }), [state, settings, table]);
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header>
        <div>
          <span class="brand">
            <img src="icon.svg" alt="" />
            Windlass Studio
          </span>
          {settings.table > 0 && (
            <nav aria-label="Steps">
              {VIEWS.map((name, place) => (
                <button aria-current={view === place ? "step" : undefined} disabled={place > 0 && !ready} onClick={() => go(place)}>
                  <b>{place + 1}</b>
                  {name}
                </button>
              ))}
            </nav>
          )}
          {settings.table > 0 && (
            <span class="opened">
              <span title={table?.name}>{table?.name}</span>
              <button
                onClick={() => {
                  setSettings(NONE);
                  setTable(null);
                  setError(null);
                }}
              >
                Open another
              </button>
            </span>
          )}
        </div>
      </header>
      <main id="main" tabIndex={-1} ref={heading} class={waiting && table ? "waiting" : ""} aria-busy={waiting}>
        <Problem error={error} />
        {settings.table === 0 && state && <Start take={take} />}
        {settings.table > 0 && !table && !error && <p role="status">Reading the table…</p>}
        {state && table && view === 0 && <TableView {...(shown as ViewProps)} go={go} />}
        {state && table && ready && view === 1 && <AugmentView {...(shown as ViewProps)} />}
        {state && table && ready && view === 2 && <CompareView {...(shown as ViewProps)} />}
        {state && table && ready && view === 3 && <ModelView {...(shown as ViewProps)} />}
      </main>
    </>
  );
}

function Start({ take }: { take: (file: File) => void }) {
  const example = () => take(new File([cars], "auto_mpg.csv", { type: "text/csv" }));
  return (
    <div class="start">
      <h1>Regression on small tables</h1>
      <p class="about">Open a table with a few dozen to a few thousand rows. Nothing leaves this computer.</p>
      <Drop take={take}>
        <button onClick={example}>Try the example: 398 cars</button>
      </Drop>
      <ol>
        <li>
          <b>1 Table</b>
          <span class="about">columns, roles, and what to fix</span>
        </li>
        <li>
          <b>2 Augment</b>
          <span class="about">see synthetic rows move with a slider</span>
        </li>
        <li>
          <b>3 Does it help?</b>
          <span class="about">a test on held-out rows</span>
        </li>
        <li>
          <b>4 Model</b>
          <span class="about">its error, its intervals, and predictions</span>
        </li>
      </ol>
    </div>
  );
}

render(<App />, document.body);
