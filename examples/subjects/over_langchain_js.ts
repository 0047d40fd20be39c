// LangChain.js: `@langchain/openai`, `@langchain/anthropic` and `@langchain/google-genai`.

import { ChatAnthropic } from "@langchain/anthropic";
import about from "@langchain/core/package.json" with { type: "json" };
import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { ChatGoogleGenerativeAI } from "@langchain/google-genai";
import { ChatOpenAI } from "@langchain/openai";
import { declare, type Json, readArguments, type Request, Subject, theEnd, without } from "./subject.ts";

const { version } = about;

// Over Gemini, a stream that breaks leaves a rejection that nobody handles (docs/findings.md), for which Node would end.
if (process.argv[2]?.endsWith(":Gemini")) process.on("unhandledRejection", console.error);

abstract class LangChain extends Subject {
  refuses = (error: Json) => error.constructor === Error; // it has no type of its own for what it does not translate
  static renamed: Record<string, string> = { max_tokens: "maxTokens", top_p: "topP" };

  abstract made(settings: Json): Json;
  abstract structured(schema: Json): Json;
  choice = (choice: string): Json => choice;

  async *answer(request: Request, signal: AbortSignal): AsyncGenerator<string | Json> {
    const { stop, ...settings } = request.settings;
    const model = this.made({ model: request.model, maxRetries: 0, ...settings });
    const tools = request.tools.map(({ name, description, inputSchema: parameters }) => {
      return { type: "function", function: { name, description, parameters } };
    });
    const asked = {
      ...(request.choice !== undefined && { tool_choice: this.choice(request.choice) }),
      ...(request.parallel !== undefined && { parallel_tool_calls: request.parallel }),
    };
    const bound = tools.length ? model.bindTools(tools, asked) : model;
    const options = { signal, ...(stop && { stop }), ...(request.schema && this.structured(request.schema)) };
    const messages = request.messages.map(readMessage);
    let answer: Json;
    if (request.streamed) {
      for await (const chunk of await bound.stream(messages, options)) {
        answer = answer?.concat(chunk) ?? chunk;
        yield chunk.text;
      }
    } else {
      answer = await bound.invoke(messages, options);
      yield answer.text || answer.additional_kwargs.refusal || "";
    }
    const { response_metadata: facts = {}, usage_metadata: used } = answer ?? {};
    const more = answer?.additional_kwargs ?? {};
    const said = facts.finish_reason ?? facts.stop_reason ?? facts.finishReason ?? more.stop_reason;
    const [cached, thinking] = [used?.input_token_details?.cache_read, used?.output_token_details?.reasoning];
    const calls = [...(answer?.tool_calls ?? []), ...(answer?.invalid_tool_calls ?? [])];
    yield* theEnd(calls, said, { input: used?.input_tokens, output: used?.output_tokens, cached, thinking });
  }
}

function readMessage({ role, content, name, tool_calls = [], tool_call_id, status }: Json): Json {
  if (role === "tool") return new ToolMessage({ content, tool_call_id, name, status });
  if (role === "system") return new SystemMessage({ content, name });
  if (role === "user")
    return new HumanMessage({ content: typeof content === "string" ? content : content.map(readPart), name });
  const calls = tool_calls.map((call: Json) => ({ id: call.id, name: call.function.name, args: readArguments(call) }));
  const good = calls.filter(({ args }: Json) => typeof args === "object");
  const bad = calls.filter(({ args }: Json) => typeof args === "string");
  const additional_kwargs = tool_calls.length ? { tool_calls } : {}; // its own answers have them, too
  return new AIMessage({ content: content ?? "", name, tool_calls: good, invalid_tool_calls: bad, additional_kwargs });
}

function readPart({ type, text, data, url, mime_type }: Json): Json {
  if (type === "text") return { type, text };
  return { type: "image_url", image_url: { url: url ?? `data:${mime_type};base64,${data}` } };
}

export class OpenAI extends LangChain {
  static declared = declare("langchain-js-openai", version, "openai-chat", ["result_status"], []);
  static model = "gpt-4.1-mini";
  made = (settings: Json) => new ChatOpenAI({ ...settings, apiKey: this.key, configuration: { baseURL: this.url } });
  structured(schema: Json): Json {
    return { response_format: { type: "json_schema", json_schema: { name: "answer", schema } } };
  }
}

export class Anthropic extends LangChain {
  static losses = ["message_name", "schema_keywords"];
  static declared = declare("langchain-js-anthropic", version, "anthropic-messages", this.losses, ["joins_turns"]);
  static model = "claude-haiku-4-5";
  static adds = "/v1";
  static missing = ["parallel_tool_calls"];
  made = (settings: Json) => new ChatAnthropic({ ...settings, apiKey: this.key, anthropicApiUrl: this.url });
  structured = (schema: Json) => ({ outputConfig: { format: { type: "json_schema", schema } } });
  choice = (choice: string) => (choice === "required" ? "any" : choice);
}

export class Gemini extends LangChain {
  static losses = ["message_name", "call_ids", "schema_keywords"];
  static repairs = ["joins_turns", "wraps_result", "marks_failed_result", "drops_blank_text"];
  static all = declare("langchain-js-gemini", version, "gemini-generate", this.losses, this.repairs);
  static declared = without(this.all, "late_system");
  static model = "gemini-2.5-flash";
  static adds = "/v1beta";
  static missing = ["parallel_tool_calls"];
  // It ignores the `stop` of a call.
  static renamed = { max_tokens: "maxOutputTokens", top_p: "topP", stop: "stopSequences" };
  made = (settings: Json) => new ChatGoogleGenerativeAI({ ...settings, apiKey: this.key, baseUrl: this.url });
  structured = (schema: Json) => ({ responseSchema: schema });
  choice = (choice: string) => (choice === "required" ? "any" : choice);
}
