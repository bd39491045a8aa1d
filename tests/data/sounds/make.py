#!/usr/bin/python3
"""Records what others make of sounds: samples at another rate by scipy's upfirdn with the filter that
<millwright/dataset_sounds.h> says (numpy's sinc and i0), and log-mel powers by numpy's FFT with the formulas of
<millwright/log_mel.h>. Debian: python3-numpy 1.24, python3-scipy 1.10.

    cd tests/data/sounds && /usr/bin/python3 make.py
"""
import numpy as np
from scipy.signal import upfirdn

COUNT = 600


def signal(count, seed):
    """Integers of a linear congruential generator, as test_sounds.c makes them, in 1 / 32768."""
    out, state = np.empty(count), seed
    for i in range(count):
        state = (state * 1664525 + 1013904223) % 2**32
        out[i] = (state >> 16) - 32768
    return out / 32768.0


def resample(x, rate_from, rate_to):
    if rate_from == rate_to:
        return x
    common = np.gcd(rate_from, rate_to)
    up, down = rate_to // common, rate_from // common
    lower = min(1.0, rate_to / rate_from)
    half = 64 / lower
    reach = int(np.floor(half * up))
    t = np.arange(-reach, reach + 1) / up
    u = np.clip(1 - (t / half) ** 2, 0, None)
    h = 0.95 * lower * np.sinc(0.95 * lower * t) * np.i0(10 * np.sqrt(u)) / np.i0(10)
    h[np.abs(t) >= half] = 0
    count = -(-len(x) * up // down)
    # Sample n of the result is sample reach + n down of what the filter gives; it is made to begin at a multiple.
    before = -reach % down
    y = upfirdn(np.concatenate([np.zeros(before), h, np.zeros(down)]), x, up, down)
    first = (before + reach) // down
    y = np.concatenate([y[first:], np.zeros(count)])
    return y[:count]


def mel(f, slaney):
    if not slaney:
        return 2595 * np.log10(1 + f / 700)
    return np.where(f < 1000, 3 * f / 200, 15 + 27 * np.log(np.maximum(f, 1) / 1000) / np.log(6.4))


def hertz(m, slaney):
    if not slaney:
        return 700 * (10 ** (m / 2595) - 1)
    return np.where(m < 15, 200 * m / 3, 1000 * np.exp((m - 15) * np.log(6.4) / 27))


def log_mel(x, rate, window, hop, fft, mels, low, high, slaney, area, floor):
    frames = np.lib.stride_tricks.sliding_window_view(x, window)[::hop]
    hann = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(window) / window)
    power = np.abs(np.fft.rfft(frames * hann, fft)) ** 2
    points = hertz(np.linspace(mel(np.float64(low), slaney), mel(np.float64(high), slaney), mels + 2), slaney)
    q = np.arange(fft // 2 + 1) * rate / fft
    bands = np.zeros((mels, len(q)))
    for m in range(mels):
        left, middle, right = points[m:m + 3]
        bands[m] = np.maximum(0, np.minimum((q - left) / (middle - left), (right - q) / (right - middle)))
        if area:
            bands[m] *= 2 / (right - left)
    return np.log(np.maximum(power @ bands.T, floor)).T  # [mels, frames]


with open("resampled.txt", "w", encoding="ascii") as file:
    for pair in [(8000, 16000), (44100, 16000), (48000, 16000), (16000, 44100), (22050, 16000), (16001, 16000),
                 (192000, 8000), (16000, 16000)]:
        y = resample(signal(COUNT, 7), *pair)
        print(*pair, len(y), *(f"{v:.9g}" for v in y), file=file)

CASES = [  # rate, window, hop, fft, mels, low, high, slaney, area, floor, samples
    (16000, 400, 160, 512, 64, 0, 8000, 0, 0, 1e-6, 1000),
    (16000, 400, 160, 400, 40, 20, 7600, 1, 1, 1e-10, 999),
    (8000, 200, 80, 256, 20, 0, 4000, 0, 1, 1e-6, 1000),
    (22050, 551, 220, 1024, 32, 50, 11025, 1, 0, 1e-6, 1200),
    (16000, 7, 3, 16, 2, 0, 8000, 0, 0, 1e-3, 50),
    (1000, 64, 64, 64, 5, 0, 500, 0, 0, 40, 300),
]
with open("log_mel.txt", "w", encoding="ascii") as file:
    for case in CASES:
        y = log_mel(signal(case[10], 11), *case[:10])
        print(*case, y.shape[1], *(f"{v:.9g}" for v in y.ravel()), file=file)
