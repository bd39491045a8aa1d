import torch
import torch.nn.functional as F
from torch import nn

from registry import net


@net("lstm_tagger")
class LstmTagger(nn.Module):
    def __init__(self, tiny):
        super().__init__()
        self.steps, self.vocabulary, self.classes, width, hidden = (6, 64, 5, 8, 12) if tiny else (64, 10000, 20, 128, 256)
        self.words = nn.Embedding(self.vocabulary, width)
        self.lstm = nn.LSTM(width, hidden, 2, batch_first=True, bidirectional=True)
        self.tags = nn.Linear(2 * hidden, self.classes)

    def inputs(self, batch):
        return {"x": ((batch, self.steps), self.vocabulary), "y": ((batch * self.steps,), self.classes)}

    def forward(self, x):
        return self.tags(self.lstm(self.words(x))[0]).reshape(-1, self.classes)

    def loss(self, x, y):
        return F.cross_entropy(self(x), y)


@net("seq2seq")
class Seq2Seq(nn.Module):
    def __init__(self, tiny):
        super().__init__()
        self.read, self.written, self.words, width, hidden = (6, 5, 64, 8, 12) if tiny else (30, 24, 8000, 128, 256)
        self.source, self.target = nn.Embedding(self.words, width), nn.Embedding(self.words, width)
        self.encoder = nn.GRU(width, hidden, batch_first=True)
        self.cell = nn.GRUCell(width + hidden, hidden)
        self.match, self.join = nn.Linear(hidden, hidden, bias=False), nn.Linear(2 * hidden, hidden)
        self.out = nn.Linear(hidden, self.words)

    def inputs(self, batch):
        return {"x": ((batch, self.read), self.words), "before": ((batch, self.written), self.words),
                "y": ((batch * self.written,), self.words)}

    def forward(self, x, before):
        encoded, h = self.encoder(self.source(x))
        h, out = h[0], []
        fed = torch.zeros_like(h)
        for word in self.target(before).unbind(1):
            h = self.cell(torch.cat([word, fed], 1), h)
            weights = torch.softmax(self.match(h)[:, None] @ encoded.transpose(1, 2), -1)
            fed = torch.tanh(self.join(torch.cat([h, (weights @ encoded)[:, 0]], 1)))
            out.append(fed)
        return self.out(torch.stack(out, 1)).view(-1, self.words)

    def loss(self, x, before, y):
        return F.cross_entropy(self(x, before), y)
