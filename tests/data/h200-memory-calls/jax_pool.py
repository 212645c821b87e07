"""A product in JAX, whose pool is preallocated; what JAX states of it."""
import time

import jax
import jax.numpy as jnp

x = jnp.ones((4096, 4096), jnp.bfloat16)
product = jax.jit(lambda x: (x @ x) * 0.001)
for _ in range(10):
    x = product(x)
x.block_until_ready()
time.sleep(0.4)
print("pool", jax.devices()[0].memory_stats()["pool_bytes"])
