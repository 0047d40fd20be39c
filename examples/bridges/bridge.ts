// A bridge over any adapter in TypeScript: node bridge.ts openai.ts:OpenAIChat (Node 22.18 or newer, which runs
// TypeScript as it is). docs/bridges.md describes the protocol.

import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseExactly } from "./exact.ts";

type Json = any;
interface Adapter {
  translate?(prompt: Json[], options: Json): Json;
  call(prompt: Json[], options: Json, signal: AbortSignal): AsyncIterable<Json>;
}

console.log = console.info = console.debug = console.error; // standard output is for messages

const [, file, name] = process.argv[2].match(/^(.*):(\w+)$/) as string[];
const module = await import(pathToFileURL(resolve(file)).href);
const Made: { new (settings: Json): Adapter; declared: object } = module[name];
const adapters = new Map<number, Adapter>();
const calls = new Map<number, AbortController>();

function say(id: number, is: string, fields: object = {}): void {
  process.stdout.write(JSON.stringify({ id, is, ...fields }) + "\n");
}

function adapterOf(number: number): Adapter {
  const adapter = adapters.get(number);
  if (!adapter) throw new Error(`there is no adapter ${number}`);
  return adapter;
}

const verbs: Record<string, (message: Json) => unknown> = {
  start({ id, ...settings }) {
    const adapter = new Made(settings);
    adapters.set(id, adapter);
    say(id, "started", { ...Made.declared, call: true, translate: Boolean(adapter.translate) });
  },
  translate({ id, adapter, prompt, options }) {
    say(id, "payload", { payload: adapterOf(adapter).translate?.(prompt, options) });
  },
  async call({ id, adapter, prompt, options }) {
    const cancelling = new AbortController();
    calls.set(id, cancelling);
    try {
      for await (const event of adapterOf(adapter).call(prompt, options, cancelling.signal)) {
        if (cancelling.signal.aborted) break;
        say(id, "event", { event });
      }
      say(id, cancelling.signal.aborted ? "cancelled" : "done");
    } finally {
      calls.delete(id);
    }
  },
  cancel({ id }) {
    calls.get(id)?.abort();
  },
  stop({ id, adapter }) {
    adapters.delete(adapter);
    say(id, "stopped");
  },
};

async function take(line: string): Promise<void> {
  const message = JSON.parse(line);
  try {
    await verbs[message.verb](parseExactly(line));
  } catch (error: Json) {
    const code = error instanceof RangeError ? "PROMPT_TRANSLATION_FAILED" : error.code?.toUpperCase?.();
    say(message.id, "error", { message: String(error.message ?? error), code });
  }
}

// Not node:readline, which ends lines at U+2028, too: texts may have that.
let rest = "";
process.stdin.setEncoding("utf8");
for await (const chunk of process.stdin) {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) void take(line);
}
