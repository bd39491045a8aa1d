"""Trains an LSTM and a linear layer on the adding problem: python3 tests/data/torch/recurrent_training.py writes
recurrent_training.safetensors, the state dict that it starts from as PyTorch has it, and under "losses" what comes of
each step. tests/autograd/test_recurrent_training.c repeats it from the same numbers (hashed.py)."""
import torch
from torch import nn

from hashed import integers, tensor
from record import Recorder

STEPS, LENGTH, BATCH, HIDDEN = 150, 4, 32, 16


class Adder(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(2, HIDDEN)
        self.out = nn.Linear(HIDDEN, 1)

    def forward(self, x):
        return self.out(self.lstm(x)[1][0][0])


def batch(step):
    """Numbers in [0, 1) and marks at two of them, one in each half; the target is their sum."""
    x = torch.zeros(LENGTH, BATCH, 2)
    x[:, :, 0] = tensor((LENGTH, BATCH), 1000 + step, 1.0, 0.5)
    for half in range(2):
        at = integers((BATCH,), 2000 + 2 * step + half, LENGTH // 2) + half * (LENGTH // 2)
        x[at, torch.arange(BATCH), 1] = 1.0
    return x, (x[:, :, 0] * x[:, :, 1]).sum(0).unsqueeze(1)


torch.manual_seed(1)
model = Adder()
record = Recorder("recurrent_training", tolerance=1e-3, reason="two hundred steps add up their rounding")
record.tensors = {name: value.clone() for name, value in model.state_dict().items()}
adam = torch.optim.Adam(model.parameters(), lr=0.03, eps=1e-6)
losses = []
for step in range(STEPS):
    x, y = batch(step)
    loss = ((model(x) - y) ** 2).mean()
    adam.zero_grad()
    loss.backward()
    adam.step()
    losses.append(loss.item())
record.tensors["losses"] = torch.tensor(losses)
record.count = 1
record.write()
print(losses[0], losses[50], losses[100], losses[-1])
