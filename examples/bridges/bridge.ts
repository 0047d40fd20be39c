// A bridge over an adapter in TypeScript: node bridge.ts (Node 22.18 or newer, which runs TypeScript as it is).
// docs/bridges.md describes the protocol.

import { type Json, OpenAIChat } from "./openai.ts";

const adapters = new Map<number, OpenAIChat>();
const calls = new Map<number, AbortController>();

function say(id: number, is: string, fields: object = {}): void {
  process.stdout.write(JSON.stringify({ id, is, ...fields }) + "\n");
}

function adapterOf(number: number): OpenAIChat {
  const adapter = adapters.get(number);
  if (!adapter) throw new Error(`there is no adapter ${number}`);
  return adapter;
}

const verbs: Record<string, (message: Json) => unknown> = {
  start({ id, ...settings }) {
    adapters.set(id, new OpenAIChat(settings));
    say(id, "started", { ...OpenAIChat.declared, call: true, translate: true });
  },
  translate({ id, adapter, prompt, options }) {
    say(id, "payload", { payload: adapterOf(adapter).translate(prompt, options) });
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

async function take(message: Json): Promise<void> {
  try {
    await verbs[message.verb](message);
  } catch (error: Json) {
    say(message.id, "error", { message: String(error.message ?? error), code: error.code?.toUpperCase?.() });
  }
}

// Not node:readline, which ends lines at U+2028, too: texts may have that.
let rest = "";
process.stdin.setEncoding("utf8");
for await (const chunk of process.stdin) {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) void take(JSON.parse(line));
}
