import torch
import torch.nn.functional as F
from torch import nn

from registry import net


def add_layers(module, widths, units):
    """conv1 .. and bn1 .., then fc1 .. of which all but the last have a norm, too."""
    for i, (a, b) in enumerate(zip(widths, widths[1:]), 1):
        module.add_module(f"conv{i}", nn.Conv1d(a, b, 1))
        module.add_module(f"bn{i}", nn.BatchNorm1d(b))
    for i, (a, b) in enumerate(zip(units, units[1:]), 1):
        module.add_module(f"fc{i}", nn.Linear(a, b))
        if i < len(units) - 1:
            module.add_module(f"bn{len(widths) - 1 + i}", nn.BatchNorm1d(b))


class Transform(nn.Module):
    def __init__(self, k, width):
        super().__init__()
        self.k = k
        add_layers(self, [k, width, 2 * width, 16 * width], [16 * width, 8 * width, 4 * width, k * k])

    def forward(self, x):
        h = F.relu(self.bn1(self.conv1(x)))
        h = F.relu(self.bn2(self.conv2(h)))
        h = F.relu(self.bn3(self.conv3(h))).amax(2)
        h = F.relu(self.bn5(self.fc2(F.relu(self.bn4(self.fc1(h))))))
        return self.fc3(h).view(-1, self.k, self.k) + torch.eye(self.k, dtype=x.dtype)


@net("pointnet")
class PointNet(nn.Module):
    def __init__(self, tiny):
        super().__init__()
        self.points, width, self.classes = (16, 4, 10) if tiny else (1024, 64, 40)
        self.input_transform, self.feature_transform = Transform(3, width), Transform(width, width)
        add_layers(self, [3, width, width, width, 2 * width, 16 * width], [16 * width, 8 * width, 4 * width, self.classes])

    def inputs(self, batch):
        return {"x": ((batch, 3, self.points), 0), "y": ((batch,), self.classes)}

    def parts(self, x):
        h = self.input_transform(x).transpose(1, 2) @ x
        h = F.relu(self.bn2(self.conv2(F.relu(self.bn1(self.conv1(h))))))
        matrix = self.feature_transform(h)
        h = F.relu(self.bn3(self.conv3(matrix.transpose(1, 2) @ h)))
        h = F.relu(self.bn5(self.conv5(F.relu(self.bn4(self.conv4(h)))))).amax(2)
        return self.fc3(F.relu(self.bn7(self.fc2(F.relu(self.bn6(self.fc1(h))))))), matrix

    def forward(self, x):
        return self.parts(x)[0]

    def loss(self, x, y):
        scores, matrix = self.parts(x)
        off = matrix @ matrix.transpose(1, 2) - torch.eye(matrix.shape[1], dtype=x.dtype)
        return F.cross_entropy(scores, y) + 0.001 * off.square().sum((1, 2)).sqrt().mean()
