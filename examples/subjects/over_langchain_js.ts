// LangChain.js: `@langchain/openai`, `@langchain/anthropic` and `@langchain/google-genai`.

import { ChatAnthropic } from "@langchain/anthropic";
import about from "@langchain/core/package.json" with { type: "json" };
import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { ChatGoogleGenerativeAI } from "@langchain/google-genai";
import { ChatOpenAI } from "@langchain/openai";
import { type Json, type Request, Subject } from "./subject.ts";

// Over Gemini, a stream that breaks leaves a rejection that nobody handles (docs/findings.md), for which Node would end.
if (process.argv[2]?.endsWith(":Gemini")) process.on("unhandledRejection", console.error);

abstract class LangChain extends Subject {
  static library = "langchain-js";
  static version = about.version;
  static renamed: Record<string, string> = { max_tokens: "maxTokens", top_p: "topP" };
  static counts = ["input_tokens", "output_tokens", "input_token_details.cache_read", "output_token_details.reasoning"];
  abstract made(settings: Json): Json;
  abstract structured(schema: Json): Json;
  choice = (choice: string): string => (choice === "required" ? "any" : choice);
  refuses = (error: Json) => error.constructor === Error; // it has no type of its own for what it does not translate

  async *answer({ schema, choice, parallel, ...request }: Request, signal: AbortSignal): AsyncGenerator<string | Json> {
    const { stop, ...settings } = request.settings;
    const model = this.made({ model: request.model, maxRetries: 0, ...settings });
    const tools = request.tools.map(({ name, description, inputSchema: parameters }) => {
      return { type: "function", function: { name, description, parameters } };
    });
    const asked = { ...(choice && { tool_choice: this.choice(choice) }), ...(parallel !== undefined && { parallel_tool_calls: parallel }) };
    const bound = tools.length ? model.bindTools(tools, asked) : model;
    const options = { signal, ...(stop && { stop }), ...(schema && this.structured(schema)) };
    const messages = request.messages.map(write);
    let answer = request.streamed ? null : await bound.invoke(messages, options);
    for await (const chunk of request.streamed ? await bound.stream(messages, options) : []) {
      answer = answer?.concat(chunk) ?? chunk;
      yield chunk.text;
    }
    const { response_metadata: facts = {}, usage_metadata: used, additional_kwargs: more = {} } = answer ?? {};
    if (!request.streamed) yield answer.text || more.refusal || "";
    const said = facts.finish_reason ?? facts.stop_reason ?? facts.finishReason ?? more.stop_reason;
    yield* this.end([...(answer?.tool_calls ?? []), ...(answer?.invalid_tool_calls ?? [])], said, used);
  }
}

function write({ role, content, name, calls = [], tool_calls, tool_call_id, status }: Json): Json {
  if (role === "tool") return new ToolMessage({ content, tool_call_id, name, status });
  if (role === "system") return new SystemMessage({ content, name });
  if (role === "user") return new HumanMessage({ content: typeof content === "string" ? content : content.map(writePart), name });
  const [good, bad] = ["object", "string"].map((type) => calls.filter(({ args }: Json) => typeof args === type));
  const additional_kwargs = calls.length ? { tool_calls } : {}; // its own answers have them, too
  return new AIMessage({ content: content ?? "", name, tool_calls: good, invalid_tool_calls: bad, additional_kwargs });
}

function writePart({ type, text, data, url, mime_type }: Json): Json {
  if (type === "text") return { type, text };
  return { type: "image_url", image_url: { url: url ?? `data:${mime_type};base64,${data}` } };
}

export class OpenAI extends LangChain {
  static dialect = "openai-chat";
  made = (settings: Json) => new ChatOpenAI({ ...settings, apiKey: this.key, configuration: { baseURL: this.url } });
  structured = (schema: Json) => ({ response_format: { type: "json_schema", json_schema: { name: "answer", schema } } });
  choice = (choice: string) => choice;
}

export class Anthropic extends LangChain {
  static dialect = "anthropic-messages";
  static losses = ["schema_keywords"];
  static repairs = ["joins_turns"];
  static adds = "/v1";
  static missing = ["parallel_tool_calls"];
  made = (settings: Json) => new ChatAnthropic({ ...settings, apiKey: this.key, anthropicApiUrl: this.url });
  structured = (schema: Json) => ({ outputConfig: { format: { type: "json_schema", schema } } });
}

export class Gemini extends LangChain {
  static dialect = "gemini-generate";
  static lacks = ["late_system"];
  static losses = ["call_ids", "schema_keywords"];
  static repairs = ["joins_turns", "wraps_result", "marks_failed_result", "drops_blank_text"];
  static adds = "/v1beta";
  static missing = ["parallel_tool_calls"];
  static renamed = { max_tokens: "maxOutputTokens", top_p: "topP", stop: "stopSequences" }; // it ignores a call's `stop`
  made = (settings: Json) => new ChatGoogleGenerativeAI({ ...settings, apiKey: this.key, baseUrl: this.url });
  structured = (schema: Json) => ({ responseSchema: schema });
}
