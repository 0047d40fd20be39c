// A bridge over an adapter in Go: go build -o bridge . && ./bridge. docs/bridges.md describes the protocol.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"regexp"
	"sync"
)

type verb struct {
	Verb, Model string
	ID, Adapter int    // Adapter is the ID of a start
	Key         string `json:"api_key"`
	URL         string `json:"base_url"`
	Prompt      []object
	Options     object
}

var (
	lock  sync.Mutex // for out
	out   = json.NewEncoder(os.Stdout)
	calls sync.Map // of functions that cancel
	pairs = regexp.MustCompile(`\\\\|\\u[dD][89abAB]..\\u[dD][c-fC-F]..`)
	alone = regexp.MustCompile(`\\u[dD][89a-fA-F]`)
)

func say(message object) {
	lock.Lock()
	defer lock.Unlock()
	out.Encode(message)
}

func work(ctx context.Context, asked verb, adapter openAI) {
	defer calls.Delete(asked.ID)
	payload, err := adapter.translate(asked.Prompt, asked.Options)
	if err != nil {
		say(object{"id": asked.ID, "is": "error", "code": "PROMPT_TRANSLATION_FAILED", "message": err.Error()})
	} else if asked.Verb == "translate" {
		say(object{"id": asked.ID, "is": "payload", "payload": payload})
	} else {
		for at, events := 0, adapter.call(ctx, payload, asked.Options); at < len(events) && ctx.Err() == nil; at++ {
			say(object{"id": asked.ID, "is": "event", "event": events[at]})
		}
		say(object{"id": asked.ID, "is": map[bool]string{true: "done", false: "cancelled"}[ctx.Err() == nil]})
	}
}

func main() {
	adapters, lines := map[int]openAI{}, bufio.NewReader(os.Stdin)
	for line, err := lines.ReadBytes('\n'); err == nil; line, err = lines.ReadBytes('\n') {
		asked, decoder := verb{}, json.NewDecoder(bytes.NewReader(line))
		decoder.UseNumber() // a float64 would change large integers
		if err := decoder.Decode(&asked); err != nil {
			panic(err)
		}
		switch asked.Verb {
		case "start":
			adapters[asked.ID] = newOpenAI(asked.Key, asked.URL, asked.Model)
			say(declared(asked.ID))
		case "cancel":
			if cancel, isThere := calls.Load(asked.ID); isThere {
				cancel.(context.CancelFunc)()
			}
		case "stop":
			delete(adapters, asked.Adapter)
			say(object{"id": asked.ID, "is": "stopped"})
		default:
			if alone.Match(pairs.ReplaceAll(line, nil)) { // Go reads a lone surrogate as another character
				asked.Prompt = nil // which is refused
			}
			ctx, cancel := context.WithCancel(context.Background())
			calls.Store(asked.ID, cancel)
			go work(ctx, asked, adapters[asked.Adapter])
		}
	}
}
