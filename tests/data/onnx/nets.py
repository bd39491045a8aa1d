"""Nets as people train and export them, for tests/format/test_onnx_nets.c: python3 tests/data/onnx/nets.py writes them as
recording.py says; behind inputs and outputs come, where a head is named, the losses of STEPS steps in which PyTorch
trains it alone. PyTorch 1.13.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

from recording import export, settle, write

STEPS = 50
BATCH = {"x": {0: "batch"}, "y": {0: "batch"}}
UNFOLDED = {"training": torch.onnx.TrainingMode.PRESERVE, "do_constant_folding": False}


class Inverted(nn.Module):
    """An inverted residual with linear bottleneck (Sandler et al. 2018)."""

    def __init__(self, channels, out, stride, widen):
        super().__init__()
        inner = channels * widen
        self.same = stride == 1 and channels == out
        self.expand, self.bn1 = nn.Conv2d(channels, inner, 1, bias=False), nn.BatchNorm2d(inner)
        self.depth = nn.Conv2d(inner, inner, 3, stride, 1, groups=inner, bias=False)
        self.bn2 = nn.BatchNorm2d(inner)
        self.project, self.bn3 = nn.Conv2d(inner, out, 1, bias=False), nn.BatchNorm2d(out)

    def forward(self, x):
        h = F.relu6(self.bn1(self.expand(x)))
        h = self.bn3(self.project(F.relu6(self.bn2(self.depth(h)))))
        return x + h if self.same else h


class MobileNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.bn = nn.Conv2d(3, 8, 3, 2, 1, bias=False), nn.BatchNorm2d(8)
        self.blocks = nn.Sequential(Inverted(8, 8, 1, 2), Inverted(8, 12, 2, 4), Inverted(12, 12, 1, 4),
                                    Inverted(12, 16, 2, 4), Inverted(16, 16, 1, 4))
        self.last, self.last_bn = nn.Conv2d(16, 48, 1, bias=False), nn.BatchNorm2d(48)
        self.classifier = nn.Sequential(nn.Dropout(0.0), nn.Linear(48, 10))
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight)

    def forward(self, x):
        x = self.blocks(F.relu6(self.bn(self.stem(x))))
        x = F.relu6(self.last_bn(self.last(x)))
        return self.classifier(F.adaptive_avg_pool2d(x, 1).flatten(1))


class Lstm(nn.Module):
    """A sentence is classified: one layer after the other, then both ways."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(30, 10)
        self.lstm = nn.LSTM(10, 12, num_layers=2, batch_first=True)
        self.both = nn.LSTM(12, 8, bidirectional=True, batch_first=True)
        self.head = nn.Linear(16, 4)
        for lstm in (self.lstm, self.both):
            for weight in lstm.parameters():
                weight.data.mul_(3)

    def forward(self, tokens):
        h, _ = self.lstm(self.table(tokens))
        h, _ = self.both(h)
        return self.head(h[:, -1])


class Gru(nn.Module):
    """The state is kept, and the time has any length."""

    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(6, 9, num_layers=2, bidirectional=True, batch_first=True)
        self.head = nn.Linear(18, 3)

    def forward(self, x):
        h, _ = self.gru(x)
        return self.head(h)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.place = nn.Embedding(20, 16), nn.Parameter(torch.randn(1, 12, 16) * 0.1)
        layer = nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0, activation="gelu", batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, norm=nn.LayerNorm(16))
        self.head = nn.Linear(16, 3)

    def forward(self, tokens):
        x = self.table(tokens) + self.place[:, :tokens.shape[1]]
        return self.head(self.layers(x).mean(1))


class Twice(nn.Sequential):
    def __init__(self, channels, out):
        super().__init__(nn.Conv2d(channels, out, 3, padding=1, bias=False), nn.BatchNorm2d(out), nn.ReLU(),
                         nn.Conv2d(out, out, 3, padding=1, bias=False), nn.BatchNorm2d(out), nn.ReLU())


class UNet(nn.Module):
    """Up once by a transposed convolution, once by bilinear resampling (Ronneberger et al. 2015)."""

    def __init__(self):
        super().__init__()
        self.down1, self.down2, self.bottom = Twice(1, 6), Twice(6, 8), Twice(8, 10)
        self.up = nn.ConvTranspose2d(10, 8, 2, stride=2)
        self.up2, self.up1 = Twice(16, 8), Twice(14, 6)
        self.sample = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=False)
        self.head = nn.Conv2d(6, 2, 1)

    def forward(self, x):
        a = self.down1(x)
        b = self.down2(F.max_pool2d(a, 2))
        c = self.bottom(F.max_pool2d(b, 2))
        c = self.up2(torch.cat([self.up(c), b], 1))
        return self.head(self.up1(torch.cat([self.sample(c), a], 1)))


def labels(count, classes):
    return torch.arange(count) * 3 % classes


def losses(module, head, x, rate):
    """What PyTorch has for a loss in each step while it trains the head by Adam."""
    for value in module.parameters():
        value.requires_grad_(False)
    trained = [value.requires_grad_(True) for value in head.parameters()]
    optimizer, found = torch.optim.Adam(trained, rate), []
    for _ in range(STEPS):
        optimizer.zero_grad()
        y = module(x)
        loss = F.cross_entropy(y, labels(len(x), y.shape[1]))
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return torch.tensor(found)


def record(name, module, x, opset, head=None, **options):
    module = settle(module)
    export(name, module, x, opset, **options)
    y = module(x)
    write(name, x, y, *([losses(module, getattr(module, head), x, 0.02)] if head else []))


def record_training(name, module, x, opset):
    """As it is while it trains: batch norm by the statistics of the batch."""
    module = settle(module).train()
    export(name, module, x, opset, training=torch.onnx.TrainingMode.TRAINING, do_constant_folding=False)
    write(name, x, module(x))


torch.manual_seed(61)
images = torch.randn(4, 3, 24, 24)
record("mobilenet", MobileNet(), images, 13, "classifier", dynamic_axes=BATCH)
record("mobilenet_kept", MobileNet(), images, 14, "classifier", dynamic_axes=BATCH, **UNFOLDED)
record_training("mobilenet_train", MobileNet(), images, 15)
sentences = torch.randint(0, 30, (4, 9))
record("lstm", Lstm(), sentences, 14, "head", dynamic_axes=BATCH)
record("lstm_kept", Lstm(), sentences, 13, "head", dynamic_axes=BATCH, **UNFOLDED)
record("gru", Gru(), torch.randn(3, 8, 6), 11, dynamic_axes={"x": {0: "batch", 1: "time"}, "y": {0: "batch", 1: "time"}})
record("encoder", Encoder(), torch.randint(0, 20, (4, 8)), 16, "head", dynamic_axes={"x": {0: "batch", 1: "time"}})
record("unet", UNet(), torch.randn(2, 1, 16, 16), 12, dynamic_axes=BATCH)
