import torch
import torch.nn.functional as F
from torch import nn

from registry import net


# ---- variational autoencoder ----

class ConvNorm(nn.Module):
    def __init__(self, conv, channels):
        super().__init__()
        self.conv = conv
        if channels:
            self.norm = nn.BatchNorm2d(channels)


@net("vae")
class Autoencoder(nn.Module):
    def __init__(self, tiny):
        super().__init__()
        self.side, width, self.code = (32, 4, 8) if tiny else (64, 32, 128)
        self.small = self.side // 16
        downs = [(width << i - 1 if i else 3, width << i) for i in range(4)]
        ups = [(8 * width >> i, 3 if i == 3 else 4 * width >> i) for i in range(4)]
        self.encoder = nn.ModuleList([ConvNorm(nn.Conv2d(a, b, 4, 2, 1), b) for a, b in downs])
        flat = 8 * width * self.small**2
        self.mean, self.log_variance = nn.Linear(flat, self.code), nn.Linear(flat, self.code)
        self.decoder_in = nn.Linear(self.code, flat)
        self.decoder = nn.ModuleList([ConvNorm(nn.ConvTranspose2d(a, b, 4, 2, 1), b if b != 3 else 0) for a, b in ups])

    def inputs(self, batch):
        return {"x": ((batch, 3, self.side, self.side), 0), "noise": ((batch, self.code), 0)}

    def parts(self, x, noise):
        for layer in self.encoder:
            x = F.leaky_relu(layer.norm(layer.conv(x)), 0.2)
        x = x.flatten(1)
        mean, log_variance = self.mean(x), self.log_variance(x)
        h = F.relu(self.decoder_in(mean + noise * (0.5 * log_variance).exp()))
        h = h.view(len(h), -1, self.small, self.small)
        for layer in self.decoder[:3]:
            h = F.relu(layer.norm(layer.conv(h)))
        return self.decoder[3].conv(h), mean, log_variance

    def forward(self, x, noise):
        return self.parts(x, noise)[0].sigmoid()

    def loss(self, x, noise):
        made, mean, log_variance = self.parts(x, noise)
        pixels = x[0].numel()
        divergence = -0.5 * (1 + log_variance - (mean**2 + log_variance.exp())).sum(1).mean()
        return (pixels * F.binary_cross_entropy_with_logits(made, x) + divergence) / pixels


# ---- super-resolution ----

class SharpBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width)
        self.conv2, self.bn2 = nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width)

    def forward(self, x, relu):
        return x + self.bn2(self.conv2(relu(self.bn1(self.conv1(x)))))


@net("srresnet")
class SRResNet(nn.Module):
    def __init__(self, tiny):
        super().__init__()
        self.side, width, count = (12, 8, 2) if tiny else (48, 64, 16)
        self.first, self.first_relu = nn.Conv2d(3, width, 9, padding=4), nn.ModuleList([nn.PReLU(width)])
        self.blocks = nn.ModuleList([SharpBlock(width) for _ in range(count)])
        self.relus = nn.ModuleList([nn.PReLU(width) for _ in range(count)])
        self.middle, self.middle_bn = nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width)
        self.up = nn.ModuleList([nn.Conv2d(width, 4 * width, 3, padding=1) for _ in range(2)])
        self.up_relus = nn.ModuleList([nn.PReLU(width) for _ in range(2)])
        self.last = nn.Conv2d(width, 3, 9, padding=4)

    def inputs(self, batch):
        return {"x": ((batch, 3, self.side, self.side), 0), "y": ((batch, 3, 4 * self.side, 4 * self.side), 0)}

    def forward(self, x):
        kept = h = self.first_relu[0](self.first(x))
        for block, relu in zip(self.blocks, self.relus):
            h = block(h, relu)
        h = kept + self.middle_bn(self.middle(h))
        for conv, relu in zip(self.up, self.up_relus):
            h = relu(F.pixel_shuffle(conv(h), 2))
        return self.last(h)

    def loss(self, x, y):
        return F.mse_loss(self(x), y)


# ---- style transfer ----

class StyleConv(nn.Module):
    def __init__(self, inputs, outputs, kernel, stride=1, norm=True):
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, kernel, stride)
        self.norm = nn.InstanceNorm2d(outputs, affine=True) if norm else None
        self.border = [kernel // 2] * 4

    def forward(self, x):
        x = self.conv(F.pad(x, self.border, "reflect"))
        return x if self.norm is None else self.norm(x)


class StyleBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.a, self.b = StyleConv(width, width, 3), StyleConv(width, width, 3)

    def forward(self, x):
        return x + self.b(F.relu(self.a(x)))


@net("style_transfer")
class StyleTransfer(nn.Module):
    def __init__(self, tiny):
        super().__init__()
        self.side, width, count = (32, 4, 2) if tiny else (192, 32, 5)
        self.down = nn.ModuleList([StyleConv(3, width, 9), StyleConv(width, 2 * width, 3, 2),
                                   StyleConv(2 * width, 4 * width, 3, 2)])
        self.blocks = nn.ModuleList([StyleBlock(4 * width) for _ in range(count)])
        self.up = nn.ModuleList([StyleConv(4 * width, 2 * width, 3), StyleConv(2 * width, width, 3)])
        self.last = StyleConv(width, 3, 9, norm=False)

    def inputs(self, batch):
        shape = (batch, 3, self.side, self.side)
        return {"x": (shape, 0), "y": (shape, 0)}

    def forward(self, x):
        for layer in self.down:
            x = F.relu(layer(x))
        for block in self.blocks:
            x = block(x)
        for layer in self.up:
            x = F.relu(layer(F.interpolate(x, scale_factor=2, mode="nearest")))
        return self.last(x)

    def loss(self, x, y):
        return F.mse_loss(self(x), y)


# ---- 3-D GAN ----

class Generator(nn.Module):
    def __init__(self, width, code):
        super().__init__()
        widths = [4 * width, 2 * width, width, 1]
        self.conv = nn.ModuleList([nn.ConvTranspose3d(code, widths[0], 4, bias=False)])
        self.conv.extend([nn.ConvTranspose3d(a, b, 4, 2, 1, bias=False) for a, b in zip(widths, widths[1:])])
        self.norm = nn.ModuleList([nn.BatchNorm3d(w) for w in widths[:3]])

    def forward(self, z):
        h = z[:, :, None, None, None]
        for conv, norm in zip(self.conv, self.norm):
            h = F.relu(norm(conv(h)))
        return self.conv[3](h).sigmoid()


class Discriminator(nn.Module):
    def __init__(self, width):
        super().__init__()
        widths = [1, width, 2 * width, 4 * width]
        self.conv = nn.ModuleList([nn.Conv3d(a, b, 4, 2, 1, bias=False) for a, b in zip(widths, widths[1:])])
        self.conv.append(nn.Conv3d(widths[3], 1, 4, bias=False))
        self.norm = nn.ModuleList([nn.BatchNorm3d(w) for w in widths[2:]])

    def forward(self, x):
        h = F.leaky_relu(self.conv[0](x), 0.2)
        for conv, norm in zip(self.conv[1:], self.norm):
            h = F.leaky_relu(norm(conv(h)), 0.2)
        return self.conv[3](h).flatten()


@net("gan_3d")
class Gan3D(nn.Module):
    def __init__(self, tiny):
        super().__init__()
        width, self.code = (4, 8) if tiny else (64, 128)
        self.generator, self.discriminator = Generator(width, self.code), Discriminator(width)

    def inputs(self, batch):
        return {"z": ((batch, self.code), 0), "x": ((batch, 1, 32, 32, 32), 0)}

    def forward(self, z):
        return self.generator(z)

    def loss(self, z, x):
        made = self.generator(z)
        scores = self.discriminator(torch.cat([x, 2 * made.detach() - made]))
        truth = torch.cat([torch.ones(len(x)), torch.zeros(len(x))]).to(scores.dtype)
        return F.binary_cross_entropy_with_logits(scores, truth)
