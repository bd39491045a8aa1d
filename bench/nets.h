/* The networks of the sizes that people train (W7 to W14), built with Millwright's constructors as a user would. Each
 * builder declares the inputs "x" and, where there is a loss, "y". Parameters have the names that torch_nets.py has. */
#ifndef BENCH_NETS_H
#define BENCH_NETS_H

#include <millwright/millwright.h>

/* Multiplications with an addition in the products and convolutions of a forward pass, of the network built last. */
extern double net_products;

/* ---- nets_text.c ---- */

/* GPT-2: pre-norm blocks, learned positions, GELU (tanh form), the table of words is the head, too. */
typedef struct gpt_form {
    int layers, heads, width, words, positions;
    int batch, tokens;
} gpt_form;

/* x [B, T] and y [B T], words -> the loss. */
mw_tensor *net_gpt(mw_graph *graph, const gpt_form *form);
/* One token each of B texts: x [B], words; at [1], how many tokens there were before, below `tokens`. The caches are
 * states "key.0" [B, H, T, E], "value.0" and so on, and their next values outputs "key.0.next" and so on.
 * Returns the logits [B, words]. */
mw_tensor *net_gpt_token(mw_graph *graph, const gpt_form *form);

/* ---- nets_llama.c ---- */

/* The form of Llama: RMS norms, rotary positions in halves, SwiGLU, no biases, the table of words is the head, too. */
typedef struct llama_form {
    int layers, heads, width, hidden, words;
    int batch, tokens;
} llama_form;

/* x [B, T] and y [B T], words -> the loss. */
mw_tensor *net_llama(mw_graph *graph, const llama_form *form);

/* ---- nets_vision.c; x is [B, 3, S, S] ---- */

typedef struct vision_form {
    int batch, side, width;
} vision_form;

/* ResNet-18 with a stem of 3 x 3 and no pooling, as for CIFAR; widths of `width`, 2, 4 and 8 times that. y [B]. */
mw_tensor *net_resnet(mw_graph *graph, const vision_form *form);
/* MobileNetV2 with the strides that 32 x 32 asks for; all widths in proportion to `width` of the stem, 32. y [B]. */
mw_tensor *net_mobilenet(mw_graph *graph, const vision_form *form);
/* U-Net of three levels below the first, each convolution with batch norm and ReLU, upwards by transposed
 * convolutions; binary cross-entropy against y [B, 1, S, S]. */
mw_tensor *net_unet(mw_graph *graph, const vision_form *form);

/* ---- nets_sequence.c ---- */

typedef struct lstm_form {
    int layers, hidden, inputs, steps, batch;
} lstm_form;

/* x [B, S, I]; steps and gates are cut by slices and the cell is written out. y [B] of ten classes, by the last output.
 * by_layer: mw_lstm_layer instead. */
mw_tensor *net_lstm(mw_graph *graph, const lstm_form *form, bool by_layer);

/* The encoder of Whisper: two convolutions over a spectrogram x [B, 80, 2 T], then blocks over T positions. */
typedef struct whisper_form {
    int layers, heads, width, positions, batch;
} whisper_form;

/* Returns [B, T, width]. */
mw_tensor *net_whisper(mw_graph *graph, const whisper_form *form);

#endif
