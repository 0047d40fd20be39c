// An adapter for chat completions, small and honest: texts in, one whole text out. It declares that it can do no more.

export type Json = any;
type Settings = { api_key: string; base_url: string | null; model: string | null };

export class Refusal extends Error {
  code = "PROMPT_TRANSLATION_FAILED";
}

const KEPT = ["thread_id", "trace_id", "session_id", "user_id", "call_context", "timeouts", "late_system", "provider"];
const SENT: Json = { temperature: "temperature", top_p: "top_p", max_tokens: "max_completion_tokens", stop: "stop" };
const FINISHES = ["stop", "length", "content_filter"];

export class OpenAIChat {
  static declared = {
    name: "openai-chat in TypeScript",
    version: "1",
    dialect: "openai-chat",
    capabilities: ["system", "late_system", "stop", "prefill", "provider_fields"],
  };
  #key: string;
  #url: string;
  #model: string;

  constructor({ api_key, base_url, model }: Settings) {
    this.#key = api_key;
    this.#url = base_url ?? "https://api.openai.com/v1";
    this.#model = model ?? "gpt-4.1-mini";
  }

  translate(prompt: Json[], options: Json): Json {
    if (!prompt.length) throw new Refusal("a prompt needs a message");
    const messages = prompt.map(({ role, content, name, tool_calls }) => {
      const isText = typeof content === "string" || (content?.length && content.every((part: Json) => part.type === "text"));
      if (!["system", "user", "assistant"].includes(role)) throw new Refusal(`no messages of the role ${role}`);
      if (!isText || tool_calls?.length) throw new Refusal("nothing but texts");
      if (name !== undefined && !/^[^\s<|\\/>]+$/.test(name)) throw new Refusal(`no name such as ${name}`);
      return { role, content, name };
    });
    if (options.stop?.length > 4) throw new Refusal("at most four stop sequences");
    for (const [name, most] of Object.entries({ temperature: 2, top_p: 1 }))
      if (options[name] < 0 || options[name] > most) throw new Refusal(`${name} is between 0 and ${most}`);
    const isSet = (name: string) => options[name] !== null && options[name].length !== 0;
    const set = Object.keys(options).filter((name) => isSet(name) && !(name === "stream" && !options.stream));
    const unknown = set.filter((name) => ![...KEPT, ...Object.keys(SENT), "model"].includes(name));
    if (unknown.length) throw new Refusal(`no option ${unknown.join(", ")}`);
    const sent = Object.fromEntries(set.filter((name) => name in SENT).map((name) => [SENT[name], options[name]]));
    const payload = { model: options.model ?? this.#model, messages, ...sent };
    const own = options.provider?.["openai-chat"] ?? {};
    const twice = Object.keys(own).filter((name) => name in payload || name === "stream");
    if (twice.length) throw new Refusal(`the provider's field ${twice.join(", ")} has an option of its own`);
    return { ...payload, ...own };
  }

  async *call(prompt: Json[], options: Json, signal: AbortSignal): AsyncGenerator<Json> {
    const payload = this.translate(prompt, options);
    const { thread_id, trace_id = crypto.randomUUID(), session_id = null } = options;
    for (const event of await this.#ask(payload, options, signal)) yield { ...event, thread_id, trace_id, session_id };
  }

  async #ask(payload: Json, options: Json, signal: AbortSignal): Promise<Json[]> {
    const limits = options.timeouts ?? {};
    const waiting = new AbortController();
    const wait = (seconds = 60) => setTimeout(() => waiting.abort(), seconds * 1000);
    let timer = wait(limits.first_byte); // or for the next bytes
    const whole = wait(limits.whole_call ?? 600);
    let status: number | null = null;
    try {
      const response = await fetch(`${this.#url}/chat/completions`, {
        method: "POST",
        redirect: "manual", // the key is for this host
        headers: { "content-type": "application/json", authorization: `Bearer ${this.#key}` },
        body: JSON.stringify(payload),
        signal: AbortSignal.any([signal, waiting.signal]),
      });
      status = response.status;
      const pieces: Uint8Array[] = [];
      clearTimeout(timer);
      timer = wait(limits.between_bytes);
      try {
        for await (const piece of response.body ?? []) {
          pieces.push(piece);
          clearTimeout(timer);
          timer = wait(limits.between_bytes);
        }
      } catch (error) {
        if (status === 200) throw error; // the status of a refusal says enough
      }
      const text = new TextDecoder("utf-8", { fatal: status === 200 }).decode(Buffer.concat(pieces));
      return status === 200 ? eventsOf(JSON.parse(text), options.call_context) : this.#failed(response, text);
    } catch (error) {
      return [...this.#error(`no answer that can be read: ${error}`, { status, is_retryable: status === null })];
    } finally {
      clearTimeout(timer);
      clearTimeout(whole);
    }
  }

  #failed(response: Response, text: string): Json[] {
    const { status, headers } = response;
    let words = `status ${status}`;
    try {
      words = JSON.parse(text).error.message ?? words;
    } catch {} // a page, or nothing
    return this.#error(words, { status, retry_after: waitOf(headers), is_retryable: [408, 409, 429].includes(status) || status >= 500 });
  }

  #error(words: string, facts: Json): Json[] {
    const message = String(words).replaceAll(this.#key, "***");
    const error = { code: "LLM_PROVIDER_ERROR", message, provider_message: message, ...facts };
    return [{ type: "ERROR", error }, { type: "END", message: null, finish: "error" }];
  }
}

const DELAY = /^\d+(\.\d+)?$/;

// The seconds to wait, or null where no header says it. A date without a zone is in GMT, too: RFC 9110, 5.6.7.
function waitOf(headers: Headers): number | null {
  const [milliseconds, after] = ["retry-after-ms", "retry-after"].map((name) => headers.get(name) ?? "");
  if (DELAY.test(milliseconds)) return Number(milliseconds) / 1000;
  if (DELAY.test(after)) return Number(after);
  const date = /^[A-Z]/.test(after) ? Date.parse(after.endsWith("GMT") ? after : `${after} GMT`) : NaN;
  return Number.isNaN(date) ? null : Math.max(0, (date - Date.now()) / 1000);
}

function eventsOf(answer: Json, context?: string): Json[] {
  const [{ message, finish_reason }] = answer.choices;
  if (typeof message !== "object") throw new TypeError("this is no message");
  const text = message.content ?? message.refusal ?? "";
  if (typeof text !== "string" || typeof finish_reason !== "string" || message.tool_calls?.length)
    throw new TypeError("this is no text");
  const finish = FINISHES.includes(finish_reason) ? finish_reason : "other";
  const { usage } = answer;
  const metadata = {
    stop_reason: finish,
    input_tokens: usage?.prompt_tokens ?? null,
    output_tokens: usage?.completion_tokens ?? null,
    cached_tokens: usage?.prompt_tokens_details?.cached_tokens ?? null,
    thinking_tokens: usage?.completion_tokens_details?.reasoning_tokens ?? null,
  };
  const known = context === "AGENT_THOUGHT" || context === "FINAL_SYNTHESIS";
  return [
    { type: "TOKEN", text, token_type: known ? `${context}_LLM_RESPONSE` : "LLM_RESPONSE" },
    { type: "METADATA", metadata },
    { type: "END", message: { role: "assistant", content: text }, finish },
  ];
}
