// An adapter for chat completions, small and honest: texts in, one whole text out. It declares that it can do no more.
package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

type object = map[string]any

// declared is the answer to a start.
func declared(id int) object {
	return object{
		"id": id, "is": "started", "name": "openai-chat in Go", "version": "1", "call": true, "translate": true,
		"dialect":      "openai-chat",
		"capabilities": []string{"system", "late_system", "stop", "prefill", "provider_fields"},
	}
}

var options = map[string]string{ // and the fields in which they are sent
	"thread_id": "", "trace_id": "", "session_id": "", "user_id": "", "call_context": "",
	"timeouts": "", "late_system": "", "provider": "", "model": "",
	"temperature": "temperature", "top_p": "top_p", "max_tokens": "max_completion_tokens", "stop": "stop",
}

type refusal string // is the only error that an adapter gives

func (why refusal) Error() string { return string(why) }

type openAI struct{ key, url, model string }

func newOpenAI(key, url, model string) openAI {
	if url == "" {
		url = "https://api.openai.com/v1"
	}
	if model == "" {
		model = "gpt-4.1-mini"
	}
	return openAI{key, url, model}
}

var client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

func (own openAI) translate(prompt []object, given object) (object, error) {
	messages := []object{}
	for _, message := range prompt {
		role, isKnown := message["role"].(string)
		calls, _ := message["tool_calls"].([]any)
		if !isKnown || !strings.Contains(" system user assistant ", " "+role+" ") {
			return nil, refusal(fmt.Sprintf("no messages of the role %v", message["role"]))
		}
		if !isText(message["content"]) || len(calls) > 0 {
			return nil, refusal("nothing but texts")
		}
		sent := object{"role": role, "content": message["content"]}
		if name, isNamed := message["name"].(string); isNamed {
			if name == "" || strings.ContainsAny(name, " \t\n\r<|\\/>") {
				return nil, refusal("no name such as " + name)
			}
			sent["name"] = name
		}
		messages = append(messages, sent)
	}
	if len(messages) == 0 {
		return nil, refusal("a prompt needs a message")
	}
	payload := object{"model": own.model, "messages": messages}
	if model, isGiven := given["model"].(string); isGiven {
		payload["model"] = model
	}
	for name, value := range given {
		list, isList := value.([]any)
		field, isKnown := options[name]
		switch {
		case value == nil || name == "stream" && value == false || isList && len(list) == 0:
		case !isKnown:
			return nil, refusal("no option " + name)
		case len(list) > 4:
			return nil, refusal("at most four stop sequences")
		case name == "temperature" && outside(value, 2) || name == "top_p" && outside(value, 1):
			return nil, refusal(name + " is out of its range")
		case field != "":
			payload[field] = value
		}
	}
	ofProviders, _ := given["provider"].(object)
	fields, _ := ofProviders["openai-chat"].(object)
	for name, value := range fields {
		if _, isThere := payload[name]; isThere || name == "stream" {
			return nil, refusal("the provider's field " + name + " has an option of its own")
		}
		payload[name] = value
	}
	return payload, nil
}

func isText(content any) bool {
	parts, isList := content.([]any)
	for _, part := range parts {
		if part.(object)["type"] != "text" {
			return false
		}
	}
	_, isString := content.(string)
	return isString || isList && len(parts) > 0
}

func outside(value any, most float64) bool {
	number, err := value.(json.Number).Float64()
	return err != nil || number < 0 || number > most
}

// call gives the events of a call, with the caller's own ids.
func (own openAI) call(ctx context.Context, payload, given object) []object {
	trace := make([]byte, 16)
	rand.Read(trace)
	events := own.ask(ctx, payload, given)
	for _, event := range events {
		event["thread_id"], event["session_id"] = given["thread_id"], given["session_id"]
		if event["trace_id"] = given["trace_id"]; event["trace_id"] == nil {
			event["trace_id"] = fmt.Sprintf("%x", trace)
		}
	}
	return events
}

func (own openAI) ask(ctx context.Context, payload, given object) []object {
	limits, _ := given["timeouts"].(object)
	ctx, cancel := context.WithTimeout(ctx, seconds(limits["whole_call"], 600))
	defer cancel()
	timer := time.AfterFunc(seconds(limits["first_byte"], 60), cancel) // or for the next bytes
	defer timer.Stop()
	body, _ := json.Marshal(payload)
	request, err := http.NewRequestWithContext(ctx, "POST", own.url+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return own.failed("no request: "+err.Error(), nil)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+own.key)
	response, err := client.Do(request)
	if err != nil {
		return own.failed("no answer: "+err.Error(), object{"is_retryable": true})
	}
	defer response.Body.Close()
	answer, piece := []byte{}, make([]byte, 1<<16)
	for err == nil {
		timer.Reset(seconds(limits["between_bytes"], 60))
		var count int
		count, err = response.Body.Read(piece)
		answer = append(answer, piece[:count]...)
	}
	if response.StatusCode != 200 {
		return own.refused(response, answer)
	}
	if errors.Is(err, io.EOF) && utf8.Valid(answer) {
		if events, err := eventsOf(answer, given["call_context"]); err == nil {
			return events
		}
	}
	return own.failed("no answer that can be read", object{"status": 200, "is_retryable": false})
}

func seconds(limit any, usual float64) time.Duration {
	if number, isGiven := limit.(json.Number); isGiven {
		usual, _ = number.Float64()
	}
	return time.Duration(usual * float64(time.Second))
}

func (own openAI) refused(response *http.Response, body []byte) []object {
	status := response.StatusCode
	facts := object{"status": status, "is_retryable": status == 408 || status == 409 || status == 429 || status >= 500}
	if wait, said := waitOf(response.Header); said {
		facts["retry_after"] = wait
	}
	var said struct{ Error struct{ Message string } }
	if json.Unmarshal(body, &said) != nil || said.Error.Message == "" {
		said.Error.Message = response.Status
	}
	return own.failed(said.Error.Message, facts)
}

// The seconds to wait, if a header says it.
func waitOf(headers http.Header) (float64, bool) {
	if number, said := delay(headers.Get("Retry-After-Ms")); said {
		return number / 1000, true
	}
	after := headers.Get("Retry-After")
	if number, said := delay(after); said {
		return number, true
	}
	date, err := http.ParseTime(after)
	return math.Max(0, time.Until(date).Seconds()), err == nil
}

// A number that is no delay, as "-5" and "inf" are none, says nothing.
func delay(text string) (float64, bool) {
	number, err := strconv.ParseFloat(text, 64)
	return number, err == nil && number >= 0 && !math.IsInf(number, 0)
}

func (own openAI) failed(words string, facts object) []object {
	failure := object{"code": "LLM_PROVIDER_ERROR", "message": strings.ReplaceAll(words, own.key, "***")}
	failure["provider_message"] = failure["message"]
	for name, value := range facts {
		failure[name] = value
	}
	return []object{{"type": "ERROR", "error": failure}, {"type": "END", "message": nil, "finish": "error"}}
}

// eventsOf reads an answer; counts that are missing stay null.
func eventsOf(body []byte, context any) ([]object, error) {
	var answer struct {
		Choices []struct {
			Message *struct {
				Content, Refusal *string
				ToolCalls        []any `json:"tool_calls"`
			}
			Finish *string `json:"finish_reason"`
		}
		Usage struct {
			Input   *int `json:"prompt_tokens"`
			Output  *int `json:"completion_tokens"`
			OfInput struct {
				Cached *int `json:"cached_tokens"`
			} `json:"prompt_tokens_details"`
			OfOutput struct {
				Thinking *int `json:"reasoning_tokens"`
			} `json:"completion_tokens_details"`
		}
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, err
	}
	if len(answer.Choices) == 0 || answer.Choices[0].Message == nil || answer.Choices[0].Finish == nil {
		return nil, errors.New("this is no answer")
	}
	message, finish, text, usage := answer.Choices[0].Message, *answer.Choices[0].Finish, "", answer.Usage
	if len(message.ToolCalls) > 0 {
		return nil, errors.New("this is no text")
	}
	if message.Content != nil {
		text = *message.Content
	} else if message.Refusal != nil {
		text = *message.Refusal
	}
	if finish != "stop" && finish != "length" && finish != "content_filter" {
		finish = "other"
	}
	kind := "LLM_RESPONSE"
	if context == "AGENT_THOUGHT" || context == "FINAL_SYNTHESIS" {
		kind = fmt.Sprintf("%v_%s", context, kind)
	}
	return []object{
		{"type": "TOKEN", "text": text, "token_type": kind},
		{"type": "METADATA", "metadata": object{
			"stop_reason": finish, "input_tokens": usage.Input, "output_tokens": usage.Output,
			"cached_tokens": usage.OfInput.Cached, "thinking_tokens": usage.OfOutput.Thinking,
		}},
		{"type": "END", "message": object{"role": "assistant", "content": text}, "finish": finish},
	}, nil
}
