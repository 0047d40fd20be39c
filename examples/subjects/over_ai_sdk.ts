// The AI SDK: `generateText` and `streamText` of `ai`, with the provider packages `@ai-sdk/...`.

import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, jsonSchema, Output, streamText, tool } from "ai";
import about from "ai/package.json" with { type: "json" };
import { declare, type Json, readArguments, type Request, Subject, theEnd, toolOf, without } from "./subject.ts";

const { version } = about;

const REFUSALS = [
  "AI_InvalidArgumentError",
  "AI_InvalidMessageRoleError",
  "AI_InvalidPromptError",
  "AI_MissingToolResultsError",
  "AI_UnsupportedFunctionalityError",
];

abstract class AISDK extends Subject {
  static renamed = { max_tokens: "maxOutputTokens", top_p: "topP", stop: "stopSequences" };

  abstract model(name: string): Json;
  abstract own(request: Request): Json;
  named(_: string | undefined): Json {}
  refuses = (error: Json) => REFUSALS.includes(error.name);

  async *answer(request: Request, signal: AbortSignal): AsyncGenerator<string | Json> {
    const { choice, schema, tools } = request;
    const isPlain = choice === undefined || ["auto", "none", "required"].includes(choice);
    const made = tools.map(({ name, description, inputSchema }) => {
      return [name, tool({ description, inputSchema: jsonSchema(inputSchema) })];
    });
    const asked: Json = {
      model: this.model(request.model),
      messages: request.messages.map((chat) => {
        return { ...readMessage(chat, request.messages), providerOptions: this.named(chat.name) };
      }),
      ...request.settings,
      ...(tools.length && { tools: Object.fromEntries(made) }),
      toolChoice: isPlain ? choice : { type: "tool", toolName: choice },
      ...(schema && { output: Output.object({ schema: jsonSchema(schema) }) }),
      allowSystemInMessages: true,
      providerOptions: this.own(request),
      maxRetries: 0,
      abortSignal: signal,
    };
    const calls: Json[] = [];
    let end: Json;
    if (request.streamed) {
      for await (const part of streamText({ ...asked, onError() {} }).fullStream as AsyncIterable<Json>) {
        if (part.type === "error") throw part.error;
        if (part.type === "text-delta") yield part.text;
        if (part.type === "tool-call") calls.push(part);
        if (part.type === "finish-step") end = part;
      }
    } else {
      end = (await generateText(asked)).steps.at(-1);
      yield end.text;
      calls.push(...end.toolCalls);
    }
    if (end?.finishReason === "interrupted") throw new Error("the answer was cut off");
    const { inputTokens: input, outputTokens: output, inputTokenDetails, outputTokenDetails } = end?.usage ?? {};
    const counts = { cached: inputTokenDetails?.cacheReadTokens, thinking: outputTokenDetails?.reasoningTokens };
    const given = calls.map(({ toolCallId, toolName, input }) => ({ id: toolCallId, name: toolName, args: input }));
    yield* theEnd(given, end?.finishReason, { input, output, ...counts });
  }
}

function readMessage(chat: Json, chats: Json[]): Json {
  const { role, content, tool_call_id: toolCallId } = chat;
  if (role === "tool") {
    const output = { type: chat.status === "error" ? "error-text" : "text", value: content };
    return { role, content: [{ type: "tool-result", toolCallId, toolName: toolOf(chat, chats), output }] };
  }
  if (role === "assistant" && chat.tool_calls.length) {
    const calls = chat.tool_calls.map((call: Json) => {
      return { type: "tool-call", toolCallId: call.id, toolName: call.function.name, input: readArguments(call) };
    });
    return { role, content: [...(content === null ? [] : [{ type: "text", text: content }]), ...calls] };
  }
  return { role, content: typeof content === "string" ? content : content.map(readPart) };
}

function readPart({ type, text, data, url, mime_type }: Json): Json {
  return type === "text" ? { type, text } : { type: "file", data: url ? new URL(url) : data, mediaType: mime_type };
}

const REPAIRS = ["marks_failed_result", "drops_blank_text"];
const OF_OPENAI = ["result_status", "schema_keywords"];
const OF_OTHERS = ["message_name", "schema_keywords"];

export class OpenAI extends AISDK {
  static declared = declare("ai-sdk-openai", version, "openai-chat", OF_OPENAI, REPAIRS);
  static model = "gpt-4.1-mini";
  model = (name: string): Json => createOpenAI({ apiKey: this.key, baseURL: this.url }).chat(name);
  own = ({ parallel }: Request) => ({ openai: { parallelToolCalls: parallel } });
  named(name: string | undefined): Json {
    return name && { openai: { name } };
  }
}

export class Responses extends OpenAI {
  static losses = [...OF_OPENAI, "message_name"];
  static declared = declare("ai-sdk-responses", version, "openai-responses", this.losses, [...REPAIRS, "joins_turns"]);
  static missing = ["stop"];
  model = (name: string) => createOpenAI({ apiKey: this.key, baseURL: this.url })(name);
  named() {}
}

export class Anthropic extends AISDK {
  static losses = [...OF_OTHERS, "sampling_option:top_p"];
  static repairs = ["joins_turns", "drops_blank_text", "wraps_arguments", "trims_prefill", "hoists_late_system"];
  static declared = declare("ai-sdk-anthropic", version, "anthropic-messages", this.losses, this.repairs);
  static model = "claude-haiku-4-5";
  model = (name: string) => createAnthropic({ apiKey: this.key, baseURL: this.url })(name);
  own = ({ parallel }: Request) => ({ anthropic: { disableParallelToolUse: parallel === false || undefined } });
}

export class Gemini extends AISDK {
  static repairs = ["joins_turns", "drops_blank_text", "wraps_result"];
  static all = declare("ai-sdk-gemini", version, "gemini-generate", OF_OTHERS, this.repairs);
  static declared = without(this.all, "late_system");
  static model = "gemini-2.5-flash";
  static missing = ["parallel_tool_calls"];
  model = (name: string) => createGoogleGenerativeAI({ apiKey: this.key, baseURL: this.url })(name);
  own = () => ({});
}
