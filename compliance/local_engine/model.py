"""A tiny model of llama's architecture, made on the spot: 2 layers, 64 dimensions, about 300 tokens.

It memorizes a handful of conversations, so that an engine which runs it always gives the same answers: one call, two
calls, or text. It runs in its own environment, with torch, gguf and tokenizers.

    python model.py vocabulary TEXTS.json TEMPLATE MODEL.gguf      an untrained model with its vocabulary
    python model.py train LESSONS.json VOCABULARY.json TEMPLATE MODEL.gguf
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import gguf
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, scaled_dot_product_attention, silu

WIDTH, INNER, LAYERS, HEADS, CONTEXT, EPSILON = 64, 128, 2, 4, 8192, 1e-6
SPECIAL = ["<unk>", "<s>", "</s>", "<|im_start|>", "<|im_end|>"]
BEGIN, END = 1, 4
WORDS = 300
STEPS, RATE, GOOD = 600, 4e-3, 0.002


class Norm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(WIDTH))

    def forward(self, x: Tensor) -> Tensor:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + EPSILON) * self.weight


def turned(x: Tensor) -> Tensor:
    """Adds positions by rotating neighbouring pairs, in the order of GGUF's llama heads."""
    length, size = x.shape[-2:]
    speed = 10000.0 ** (-torch.arange(0, size, 2) / size)
    angle = torch.arange(length)[:, None] * speed
    even, odd = x[..., 0::2], x[..., 1::2]
    pairs = (even * angle.cos() - odd * angle.sin(), even * angle.sin() + odd * angle.cos())
    return torch.stack(pairs, -1).flatten(-2)


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attn_norm, self.ffn_norm = Norm(), Norm()
        self.attn_q, self.attn_k, self.attn_v, self.attn_output = (linear(WIDTH, WIDTH) for _ in range(4))
        self.ffn_gate, self.ffn_up, self.ffn_down = linear(WIDTH, INNER), linear(WIDTH, INNER), linear(INNER, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        normed = self.attn_norm(x)
        q, k, v = (heads(part(normed)) for part in (self.attn_q, self.attn_k, self.attn_v))
        seen = scaled_dot_product_attention(turned(q), turned(k), v, is_causal=True)
        x = x + self.attn_output(seen.transpose(1, 2).flatten(2))
        normed = self.ffn_norm(x)
        return x + self.ffn_down(silu(self.ffn_gate(normed)) * self.ffn_up(normed))


def linear(inside: int, outside: int) -> nn.Linear:
    return nn.Linear(inside, outside, bias=False)


def heads(x: Tensor) -> Tensor:
    return x.unflatten(-1, (HEADS, WIDTH // HEADS)).transpose(1, 2)


class Model(nn.Module):
    def __init__(self, words: int) -> None:
        super().__init__()
        self.token_embd = nn.Embedding(words, WIDTH)
        self.blk = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.output_norm = Norm()
        self.output = linear(WIDTH, words)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.token_embd(tokens)
        for layer in self.blk:
            x = layer(x)
        return self.output(self.output_norm(x))


def learn(model: Model, lessons: list[dict[str, Any]]) -> float:
    """Trains the model on lessons of tokens, and returns the last loss."""
    torch.set_num_threads(2)
    pace = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.0)
    ease = torch.optim.lr_scheduler.CosineAnnealingLR(pace, STEPS, eta_min=RATE / 10)
    rows = [(lesson["prompt"], [*lesson["answer"], END]) for lesson in lessons]
    longest = max(len(prompt) + len(answer) for prompt, answer in rows)
    x, y = torch.full((len(rows), longest), END), torch.full((len(rows), longest), -100)
    for at, (prompt, answer) in enumerate(rows):
        x[at, : len(prompt) + len(answer)] = torch.tensor([*prompt, *answer])
        y[at, len(prompt) - 1 : len(prompt) + len(answer) - 1] = torch.tensor(answer)
    wrong = 1.0
    for step in range(STEPS):
        loss = cross_entropy(model(x).flatten(0, 1), y.flatten())
        pace.zero_grad()
        loss.backward()
        pace.step()
        ease.step()
        wrong = loss.item()
        if step % 50 == 0:
            print(f"step {step}: {wrong:.4f}", flush=True)
        if wrong < GOOD:
            break
    return wrong


def write(model: Model, vocabulary: dict[str, Any], template: str, path: Path) -> None:
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_name("art-tiny")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_layer_norm_rms_eps(EPSILON)
    writer.add_vocab_size(len(vocabulary["words"]))
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(vocabulary["words"])
    kinds = {True: gguf.TokenType.CONTROL, False: gguf.TokenType.NORMAL}
    writer.add_token_types([kinds[word in SPECIAL] for word in vocabulary["words"]])
    writer.add_token_merges(vocabulary["merges"])
    writer.add_bos_token_id(BEGIN)
    writer.add_eos_token_id(END)
    writer.add_add_bos_token(value=False)
    writer.add_chat_template(template)
    for name, weight in model.state_dict().items():
        writer.add_tensor(name, weight.detach().float().contiguous().numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def spell(texts: list[str]) -> dict[str, Any]:
    """A byte-level vocabulary of the texts."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=WORDS, special_tokens=SPECIAL, initial_alphabet=alphabet)
    tokenizer.train_from_iterator(texts, trainer)
    known = json.loads(tokenizer.to_str())["model"]
    merges = [merge if isinstance(merge, str) else " ".join(merge) for merge in known["merges"]]
    return {"words": sorted(known["vocab"], key=known["vocab"].get), "merges": merges}


def main(command: str, *paths: str) -> None:
    torch.manual_seed(0)
    *given, template, model_path = map(Path, paths)
    lessons = json.loads(given[0].read_text(encoding="utf-8"))
    if command == "vocabulary":
        vocabulary = spell(lessons)
        Path(model_path).with_suffix(".vocabulary.json").write_text(json.dumps(vocabulary), encoding="utf-8")
        model = Model(len(vocabulary["words"]))
    else:
        vocabulary = json.loads(given[1].read_text(encoding="utf-8"))
        model = Model(len(vocabulary["words"]))
        print(f"trained, with the loss {learn(model, lessons):.4f}")
    write(model, vocabulary, template.read_text(encoding="utf-8"), model_path)


if __name__ == "__main__":
    main(*sys.argv[1:])
