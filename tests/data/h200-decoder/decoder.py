"""A small Llama-like decoder in plain PyTorch, with NVTX ranges: the program of the captures in this folder.

One warm-up request, then `--requests` more; each is a prefill of `--prompt` tokens and `--new`
decode steps, eager or replayed from one CUDA graph. Weights are random.
"""
import argparse
import contextlib

import torch
import torch.nn.functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--layers", type=int, default=4)
parser.add_argument("--hidden", type=int, default=2048)
parser.add_argument("--heads", type=int, default=16)
parser.add_argument("--kv-heads", type=int, default=4)
parser.add_argument("--intermediate", type=int, default=5632)
parser.add_argument("--vocab", type=int, default=32000)
parser.add_argument("--prompt", type=int, default=256)
parser.add_argument("--new", type=int, default=8)
parser.add_argument("--requests", type=int, default=1)
parser.add_argument("--graph", action="store_true", help="decode from a CUDA graph")
parser.add_argument("--trace", help="also write a PyTorch trace of the requests to this file")
args = parser.parse_args()

DEVICE, DTYPE = "cuda", torch.bfloat16
HEAD = args.hidden // args.heads
CONTEXT = args.prompt + args.new
torch.manual_seed(1)


def weight(*shape):
    return torch.empty(*shape, device=DEVICE, dtype=DTYPE).normal_(std=0.02)


@contextlib.contextmanager
def stage(name):
    torch.cuda.nvtx.range_push(name)
    try:
        yield
    finally:
        torch.cuda.nvtx.range_pop()


class Layer:
    def __init__(self):
        self.qkv = weight((args.heads + 2 * args.kv_heads) * HEAD, args.hidden)
        self.out = weight(args.hidden, args.heads * HEAD)
        self.up = weight(2 * args.intermediate, args.hidden)
        self.down = weight(args.hidden, args.intermediate)
        self.norms = torch.ones(2, args.hidden, device=DEVICE, dtype=DTYPE)
        self.keys = torch.zeros(1, args.kv_heads, CONTEXT, HEAD, device=DEVICE, dtype=DTYPE)
        self.values = torch.zeros_like(self.keys)


LAYERS = [Layer() for _ in range(args.layers)]
EMBEDDING = weight(args.vocab, args.hidden)
LM_HEAD = weight(args.vocab, args.hidden)
FINAL_NORM = torch.ones(args.hidden, device=DEVICE, dtype=DTYPE)
FREQUENCIES = 1.0 / (10000 ** (torch.arange(0, HEAD, 2, device=DEVICE).float() / HEAD))


def rms_norm(x, scale):
    y = x.float()
    return (y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-6)).to(DTYPE) * scale


def rope(x, position):
    angle = position[:, None].float() * FREQUENCIES
    cos, sin = angle.cos().to(DTYPE), angle.sin().to(DTYPE)
    left, right = x.chunk(2, -1)
    return torch.cat([left * cos - right * sin, right * cos + left * sin], -1)


def attention(layer, x, position, prefill):
    batch, tokens = x.shape[:2]
    h = rms_norm(x, layer.norms[0])
    sizes = [args.heads * HEAD, args.kv_heads * HEAD, args.kv_heads * HEAD]
    q, k, v = F.linear(h, layer.qkv).split(sizes, -1)
    q = rope(q.view(batch, tokens, args.heads, HEAD).transpose(1, 2), position)
    k = rope(k.view(batch, tokens, args.kv_heads, HEAD).transpose(1, 2), position)
    v = v.view(batch, tokens, args.kv_heads, HEAD).transpose(1, 2)
    layer.keys.index_copy_(2, position, k)
    layer.values.index_copy_(2, position, v)
    if prefill:
        o = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    else:
        seen = (torch.arange(CONTEXT, device=DEVICE) <= position[-1])[None, None, None, :]
        o = F.scaled_dot_product_attention(
            q, layer.keys, layer.values, attn_mask=seen, enable_gqa=True
        )
    return x + F.linear(o.transpose(1, 2).reshape(batch, tokens, -1), layer.out)


def mlp(layer, x):
    gate, up = F.linear(rms_norm(x, layer.norms[1]), layer.up).chunk(2, -1)
    return x + F.linear(F.silu(gate) * up, layer.down)


def forward(ids, position, prefill):
    x = F.embedding(ids, EMBEDDING)
    for number, layer in enumerate(LAYERS):
        with stage(f"layer_{number:02d}"):
            with stage("attn"):
                x = attention(layer, x, position, prefill)
            with stage("mlp"):
                x = mlp(layer, x)
    return F.linear(rms_norm(x[:, -1:], FINAL_NORM), LM_HEAD).argmax(-1)


TOKEN = torch.zeros(1, 1, dtype=torch.long, device=DEVICE)
POSITION = torch.zeros(1, dtype=torch.long, device=DEVICE)
PROMPT = torch.arange(args.prompt, device=DEVICE)


def capture_graph():
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        forward(TOKEN, POSITION, False)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = forward(TOKEN, POSITION, False)
    return graph, result


def request(graph):
    with stage("prefill"):
        token = forward(torch.randint(0, args.vocab, (1, args.prompt), device=DEVICE), PROMPT, True)
        torch.cuda.synchronize()
    with stage("decode_all"):
        for step in range(args.new):
            with stage("decode_step"):
                TOKEN.copy_(token)
                POSITION.fill_(args.prompt + step)
                if graph:
                    graph[0].replay()
                    token = graph[1]
                else:
                    token = forward(TOKEN, POSITION, False)
        torch.cuda.synchronize()


with torch.inference_mode():
    captured = capture_graph() if args.graph else None
    request(captured)
    if args.trace:
        with torch.profiler.profile(record_shapes=True) as profiler:
            for _ in range(args.requests):
                request(captured)
        profiler.export_chrome_trace(args.trace)
    else:
        for _ in range(args.requests):
            request(captured)
