// The AI SDK: `generateText` and `streamText` of `ai`, with the provider packages `@ai-sdk/...`.

import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, jsonSchema, Output, streamText, tool } from "ai";
import about from "ai/package.json" with { type: "json" };
import { chooseTool, type Json, type Request, Subject, toolOf } from "./subject.ts";

const REFUSAL = /^AI_(InvalidArgument|InvalidMessageRole|InvalidPrompt|MissingToolResults|UnsupportedFunctionality)Error$/;

abstract class AISDK extends Subject {
  static library = "ai-sdk";
  static version = about.version;
  static losses = ["schema_keywords"];
  static repairs = ["marks_failed_result", "drops_blank_text"];
  static renamed = { max_tokens: "maxOutputTokens", top_p: "topP", stop: "stopSequences" };
  static counts = ["inputTokens", "outputTokens", "inputTokenDetails.cacheReadTokens", "outputTokenDetails.reasoningTokens"];
  place = { apiKey: this.key, baseURL: this.url };
  abstract model(name: string): Json;
  own = (_: Request): Json => ({});
  named = (_?: string): Json => undefined;
  refuses = (error: Json) => REFUSAL.test(error.name);

  async *answer(request: Request, signal: AbortSignal): AsyncGenerator<string | Json> {
    const { messages, schema, tools } = request;
    const made = tools.map(({ name, description, inputSchema }) => {
      return [name, tool({ description, inputSchema: jsonSchema(inputSchema) })];
    });
    const asked: Json = {
      model: this.model(request.model),
      messages: messages.map((chat) => ({ ...write(chat, messages), providerOptions: this.named(chat.name) })),
      ...request.settings,
      ...(tools.length && { tools: Object.fromEntries(made) }),
      toolChoice: chooseTool(request.choice, (toolName) => ({ type: "tool", toolName })),
      ...(schema && { output: Output.object({ schema: jsonSchema(schema) }) }),
      ...{ providerOptions: this.own(request), allowSystemInMessages: true, maxRetries: 0, abortSignal: signal },
    };
    const answer: Json = request.streamed ? streamText({ ...asked, onError() {} }) : await generateText(asked);
    for await (const part of request.streamed ? answer.fullStream : []) {
      if (part.type === "error") throw part.error;
      if (part.type === "text-delta") yield part.text;
    }
    const { text, toolCalls, finishReason, usage } = (await answer.steps).at(-1);
    if (!request.streamed) yield text;
    if (finishReason === "interrupted") throw new Error("the answer was cut off");
    const calls = toolCalls.map(({ toolCallId: id, toolName: name, input: args }: Json) => ({ id, name, args }));
    yield* this.end(calls, finishReason, usage);
  }
}

function write(chat: Json, chats: Json[]): Json {
  const { role, content, calls = [], tool_call_id: toolCallId } = chat;
  if (role === "tool") {
    const output = { type: chat.status === "error" ? "error-text" : "text", value: content };
    return { role, content: [{ type: "tool-result", toolCallId, toolName: toolOf(chat, chats), output }] };
  }
  if (!calls.length) return { role, content: typeof content === "string" ? content : content.map(writePart) };
  const made = calls.map(({ id, name, args }: Json) => ({ type: "tool-call", toolCallId: id, toolName: name, input: args }));
  return { role, content: [...(content === null ? [] : [{ type: "text", text: content }]), ...made] };
}

function writePart({ type, text, data, url, mime_type }: Json): Json {
  return type === "text" ? { type, text } : { type: "file", data: url ? new URL(url) : data, mediaType: mime_type };
}

export class OpenAI extends AISDK {
  static dialect = "openai-chat";
  model = (name: string): Json => createOpenAI(this.place).chat(name);
  own = ({ parallel }: Request) => ({ openai: { parallelToolCalls: parallel } });
  named = (name?: string) => name && { openai: { name } };
}

export class Responses extends OpenAI {
  static dialect = "openai-responses";
  static repairs = [...AISDK.repairs, "joins_turns"];
  static missing = ["stop"];
  model = (name: string) => createOpenAI(this.place)(name);
  named = () => undefined;
}

export class Anthropic extends AISDK {
  static dialect = "anthropic-messages";
  static losses = [...AISDK.losses, "sampling_option:top_p"];
  static repairs = ["joins_turns", "drops_blank_text", "wraps_arguments", "trims_prefill", "hoists_late_system"];
  model = (name: string) => createAnthropic(this.place)(name);
  own = ({ parallel }: Request) => ({ anthropic: { disableParallelToolUse: parallel === false || undefined } });
}

export class Gemini extends AISDK {
  static dialect = "gemini-generate";
  static lacks = ["late_system"];
  static repairs = ["joins_turns", "drops_blank_text", "wraps_result"];
  static missing = ["parallel_tool_calls"];
  model = (name: string) => createGoogleGenerativeAI(this.place)(name);
}
