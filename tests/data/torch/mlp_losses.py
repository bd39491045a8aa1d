"""Records ten training steps of the 784-256-10 MLP in PyTorch; tests/autograd/test_torch.c repeats them.

    python3 tests/data/torch/mlp_losses.py > tests/data/torch/mlp_losses.txt

Weights, inputs and labels come from an integer hash that the test computes in the same way, so that no array is stored.
A line is: name, ten losses, then the sums of |p| over fc1.weight, fc1.bias, fc2.weight, fc2.bias after the last step.
"""
import numpy as np
import torch

from hashed import tensor, uniform


def train(name, make, dense_labels=False):
    parameters = [tensor((256, 784), 1, 0.125), tensor((256,), 2, 0.125), tensor((10, 256), 3, 0.25),
                  tensor((10,), 4, 0.25)]
    for p in parameters:
        p.requires_grad_(True)
    optimizer = make(parameters)
    losses = []
    for step in range(10):
        x = tensor((128, 784), 100 + step, 1.0) + 0.5
        y = torch.from_numpy(((uniform(128, 200 + step) + 0.5) * 10).astype(np.int64))
        h = torch.nn.functional.gelu(x @ parameters[0].T + parameters[1], approximate="tanh")
        logits = h @ parameters[2].T + parameters[3]
        loss = torch.nn.functional.cross_entropy(logits, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    sums = [p.detach().double().abs().sum().item() for p in parameters]
    print(name, " ".join(f"{v:.9g}" for v in losses), " ".join(f"{v:.9g}" for v in sums))


if __name__ == "__main__":
    torch.set_num_threads(1)
    print("# torch", torch.__version__, "numpy", np.__version__)
    train("sgd", lambda p: torch.optim.SGD(p, lr=0.05))
    train("momentum", lambda p: torch.optim.SGD(p, lr=0.02, momentum=0.9))
    train("nesterov_decay", lambda p: torch.optim.SGD(p, lr=0.02, momentum=0.9, nesterov=True, weight_decay=0.01))
    train("adam", lambda p: torch.optim.Adam(p, lr=1e-3))
    train("adamw", lambda p: torch.optim.AdamW(p, lr=1e-3, weight_decay=0.1))
    train("rmsprop", lambda p: torch.optim.RMSprop(p, lr=1e-4, centered=True, momentum=0.5))
    train("adagrad", lambda p: torch.optim.Adagrad(p, lr=1e-3, lr_decay=0.1))
