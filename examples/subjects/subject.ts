// What the subjects in TypeScript share, as subject.py does for those in Python: options, messages in the form of chat
// completions, events. The bridge, examples/bridges/bridge.ts, makes and calls them.

import { parseExactly } from "../bridges/exact.ts";

export type Json = any;
type Settings = { api_key: string; base_url: string | null; model: string | null };

const TOKENS = ["input_tokens", "output_tokens", "cached_tokens", "thinking_tokens"];
const FINISHES: Record<string, string[]> = {
  stop: ["stop", "end_turn", "stop_sequence", "STOP"],
  length: ["length", "max_tokens", "model_context_window_exceeded", "MAX_TOKENS"],
  tool_calls: ["tool_calls", "tool-calls", "tool_use"],
  content_filter: ["content_filter", "content-filter", "refusal", "SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST"],
};
const NOT_SENT = ["thread_id", "trace_id", "session_id", "user_id", "call_context", "late_system", "stream"];
const SAME = ["temperature", "top_p", "max_tokens", "stop"];
const ASKED = ["model", "tools", "tool_choice", "parallel_tool_calls", "response_schema"];
const TOOLS = ["tools", "parallel_tools", "tool_choice"];
const CAPABILITIES = [...TOOLS, "system", "late_system", "streaming", "images", "stop", "response_schema", "prefill"];
const MODELS: Record<string, string> = {
  "openai-chat": "gpt-4.1-mini",
  "openai-responses": "gpt-4.1-mini",
  "anthropic-messages": "claude-haiku-4-5",
  "gemini-generate": "gemini-2.5-flash",
};

// What no library can send, as the format has no field for it.
const WITHOUT_FIELD: Record<string, string[]> = {
  "openai-chat": ["result_status"],
  "openai-responses": ["result_status", "message_name"],
  "anthropic-messages": ["message_name"],
  "gemini-generate": ["message_name"],
};

export class Refusal extends Error {
  code = "PROMPT_TRANSLATION_FAILED";
}

/**
 * A call. `messages` are those of chat completions; an assistant's has `calls`, too, whose `args` are read. `settings`
 * has the library's names, `choice` is a word or a tool's name.
 */
export type Request = {
  model: string;
  messages: Json[];
  settings: Json;
  tools: Json[];
  choice?: string;
  parallel?: boolean;
  schema?: Json;
  streamed: boolean;
};

/** A library at one provider, after which the class is named. `answer` yields texts, then what `end` returns. */
export abstract class Subject {
  static library: string;
  static version: string;
  static dialect: string;
  static lacks: string[] = []; // capabilities
  static losses: string[] = []; // beside what the format has no field for
  static repairs: string[] = [];
  static adds = ""; // what the library puts behind the base URL itself
  static renamed: Record<string, string> = {}; // options that have other names there
  static missing: string[] = []; // options that the library has no parameter for
  static counts: string[]; // where the library's usage has the tokens, in the order of `TOKENS`
  key: string;
  url: string;
  #model: string;

  static get declared(): Json {
    const { library, version, dialect, repairs } = this;
    const capabilities = CAPABILITIES.filter((one) => !this.lacks.includes(one));
    const losses = ["tool_output_schema", ...WITHOUT_FIELD[dialect], ...this.losses];
    return { name: `${library}-${this.name.toLowerCase()}`, version, dialect, capabilities, losses, repairs };
  }

  constructor({ api_key, base_url, model }: Settings) {
    this.key = api_key;
    this.url = (base_url ?? "").replace(new RegExp(`${this.#about.adds}$`), "");
    this.#model = model ?? MODELS[this.#about.dialect];
  }

  abstract answer(request: Request, signal: AbortSignal): AsyncGenerator<string | Json>;

  abstract refuses(error: Json): boolean; // whether it is the library's error for what it does not translate

  /** The last pieces of an answer: its calls, then metadata. Without a finish reason, the answer was cut off. */
  end(calls: Json[], said: Json, used: Json): Json[] {
    if (typeof said !== "string") throw new TypeError("the answer has no finish reason");
    const given = calls.map(({ id, name, args }) => {
      const text = typeof args === "string" ? args : JSON.stringify(args);
      return { id, type: "function", function: { name, arguments: text } };
    });
    const find = (path: string) => path.split(".").reduce((data, name) => data?.[name], used);
    const counts = Object.fromEntries(TOKENS.map((name, at) => [name, find(this.#about.counts[at])]));
    const reason = Object.keys(FINISHES).find((one) => FINISHES[one].includes(said)) ?? "other";
    const called = given.length ? "tool_calls" : "other"; // the standard goes by the calls
    return [...given, { ...counts, stop_reason: reason === (given.length ? "stop" : "tool_calls") ? called : reason }];
  }

  get #about(): typeof Subject {
    return this.constructor as typeof Subject;
  }

  async *call(prompt: Json[], options: Json, signal: AbortSignal): AsyncGenerator<Json> {
    const { thread_id, session_id = null, trace_id = crypto.randomUUID(), call_context: context } = options;
    const books = { thread_id, session_id, trace_id };
    const kind = ["AGENT_THOUGHT", "FINAL_SYNTHESIS"].includes(context) ? `${context}_LLM_RESPONSE` : "LLM_RESPONSE";
    const calls: Json[] = [];
    let text = "";
    let metadata: Json = null;
    let failure: Json = null;
    try {
      for await (const piece of this.answer(this.#read(prompt, options), signal)) {
        if (typeof piece === "string") {
          text += piece;
          if (piece) yield { type: "TOKEN", text: piece, token_type: kind, ...books };
        } else if ("id" in piece) {
          calls.push(piece);
          yield { type: "TOOL_CALL", call: piece, ...books };
        } else metadata = piece;
      }
    } catch (error: Json) {
      if (error instanceof Refusal) throw error;
      if (this.refuses(error)) throw new Refusal(error.message.replaceAll(this.key, "***"));
      failure = error;
    }
    const message = { role: "assistant", content: text || null, ...(calls.length && { tool_calls: calls }) };
    if (failure === null) {
      yield { type: "METADATA", metadata, ...books };
      yield { type: "END", message, finish: metadata.stop_reason, ...books };
    } else {
      yield { type: "ERROR", error: describe(failure, this.key), ...books };
      yield { type: "END", message: text || calls.length ? message : null, finish: "error", ...books };
    }
  }

  #read(prompt: Json[], options: Json): Request {
    const { dialect, missing, renamed } = this.#about;
    const isSet = (value: Json) => value !== null && JSON.stringify(value) !== "[]" && JSON.stringify(value) !== "{}";
    const given: Json = Object.fromEntries(
      Object.entries(options).filter(([name, value]) => isSet(value) && !NOT_SENT.includes(name)),
    );
    const { provider = {}, model = this.#model, tools = [], tool_choice, parallel_tool_calls, response_schema } = given;
    const known = [...SAME, ...ASKED, ...(isSet(provider[dialect] ?? null) ? [] : ["provider"])];
    const unknown = Object.keys(given).filter((name) => !known.includes(name) || missing.includes(name));
    if (unknown.length) throw new Refusal(`these options are not supported: ${unknown.join(", ")}`);
    return {
      model,
      messages: chatMessages(prompt, dialect),
      settings: Object.fromEntries(SAME.filter((one) => one in given).map((one) => [renamed[one] ?? one, given[one]])),
      tools,
      choice: tool_choice,
      parallel: parallel_tool_calls,
      schema: response_schema,
      streamed: Boolean(options.stream),
    };
  }
}

/** Messages in the form of chat completions; tool requests join their turn. */
function chatMessages(prompt: Json[], dialect: string): Json[] {
  const chats: Json[] = [];
  for (const { role, content, extensions, tool_calls, ...more } of prompt) {
    const last = chats.at(-1);
    if (extensions?.[dialect] || (role === "tool_request" && !content))
      throw new Refusal(`this ${role} message is not supported`);
    if (role === "tool_request") {
      const args = typeof content.arguments === "string" ? content.arguments : JSON.stringify(content.arguments);
      const call = { id: content.id, type: "function", function: { name: content.name, arguments: args } };
      if (last?.role === "assistant") last.tool_calls.push(call);
      else chats.push({ role: "assistant", content: null, tool_calls: [call] });
    } else if (role === "assistant") chats.push({ role, content, tool_calls: [...(tool_calls ?? [])], ...more });
    else chats.push({ role: role === "tool_result" ? "tool" : role, content, ...more });
  }
  if (chats.some((chat) => chat.role === "assistant" && chat.content === null && !chat.tool_calls.length))
    throw new Refusal("an assistant message has neither a text nor a call");
  for (const chat of chats)
    chat.calls = chat.tool_calls?.map((call: Json) => ({ id: call.id, name: call.function.name, args: read(call) }));
  return chats;
}

/** The choice of a tool: a word as it is, and a tool's name as the library has it. */
export function chooseTool(choice: string | undefined, named: (name: string) => Json): Json {
  return choice === undefined || ["auto", "none", "required"].includes(choice) ? choice : named(choice);
}

/** The tool of a result, for libraries that need its name. */
export function toolOf(result: Json, chats: Json[]): string {
  const calls = chats.flatMap((chat) => chat.calls ?? []);
  const name = result.name ?? calls.find((call) => call.id === result.tool_call_id)?.name;
  if (name === undefined) throw new Refusal(`the result of ${result.tool_call_id} has no call`);
  return name;
}

/** Arguments as the object that the libraries take in place of their text; as the text where that is no object. */
function read({ function: { arguments: text } }: Json): Json {
  let keys = 0;
  const count = (_: string, value: Json) => {
    if (value && typeof value === "object" && !Array.isArray(value)) keys += Object.keys(value).length;
    return value;
  };
  let value: Json;
  try {
    if (!/[^ \t\r\n]/.test(text)) return {};
    value = JSON.parse(text, count);
  } catch {
    return text;
  }
  if (!value || typeof value !== "object" || Array.isArray(value)) return text;
  const written = [...text.matchAll(/"(?:[^"\\]|\\.)*"\s*(:?)/gs)].filter(([, colon]) => colon).length;
  if (written > keys) throw new Refusal("a key of the arguments is repeated");
  try {
    return parseExactly(text);
  } catch (error: Json) {
    throw new Refusal(error.message);
  }
}

/** The error of an ERROR event, with the HTTP status where the library's exception has one. */
function describe(failure: Json, key: string): Json {
  const causes = [failure];
  while (causes.at(-1)?.cause) causes.push(causes.at(-1).cause);
  const words = `${failure?.name}: ${failure?.message ?? failure}`.replaceAll(key, "***");
  const status = causes.flatMap((one) => [one?.statusCode, one?.status]).find((one) => typeof one === "number") ?? null;
  const headers = new Headers(causes.map((one) => one?.responseHeaders ?? one?.headers).find(Boolean) ?? {});
  const retryable = status === null || [408, 409, 429].includes(status) || status >= 500;
  const error = { code: "LLM_PROVIDER_ERROR", message: words, provider_message: words, status };
  return { ...error, retry_after: waitOf(headers), is_retryable: retryable };
}

/** The seconds to wait, of `retry-after-ms` or `retry-after`: a number or a date; null where neither can be read. */
function waitOf(headers: Headers): number | null {
  const [milliseconds, after] = [headers.get("retry-after-ms"), headers.get("retry-after")];
  if (milliseconds && Number.isFinite(Number(milliseconds))) return Number(milliseconds) / 1000;
  if (after && Number.isFinite(Number(after))) return Number(after);
  const date = Date.parse(after ?? "");
  return Number.isNaN(date) ? null : Math.max(0, (date - Date.now()) / 1000);
}
