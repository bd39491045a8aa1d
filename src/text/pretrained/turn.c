/* Orders of rows. Llama's first files, llama2.c and GGUF of Llama turn channels 2k and 2k + 1 of a head together;
 * folders of Hugging Face turn k and k + half. The rows of query and key stand as the channels do. */
#include "text/pretrained/pretrained.h"

#include <string.h>

/* Row of the folder's order that stands at `row`, with pairs. */
static int64_t unpaired(int64_t row, int64_t width)
{
    const int64_t head = row / width, channel = row % width;
    return head * width + channel % 2 * (width / 2) + channel / 2;
}

static void turn_pairs(const mw__pretrained_weight *w, bool back, const float *from, float *to)
{
    const int64_t rows = w->shape.dim[0], width = rows / w->paired_heads;
    const int64_t row_size = w->shape.rank > 1 ? w->shape.dim[1] : 1;
    for (int64_t row = 0; row < rows; row++) {
        const int64_t other = unpaired(row, width);
        memcpy(to + (back ? other : row) * row_size, from + (back ? row : other) * row_size,
               (size_t)row_size * sizeof *to);
    }
}

/* [inputs, outputs] -> [outputs, inputs], or back. */
static void transpose(const mw__pretrained_weight *w, bool back, const float *from, float *to)
{
    const int64_t rows = w->shape.dim[back ? 1 : 0], columns = w->shape.dim[back ? 0 : 1];
    for (int64_t i = 0; i < rows; i++)
        for (int64_t k = 0; k < columns; k++)
            to[k * rows + i] = from[i * columns + k];
}

mw_status mw__pretrained_turn(const mw__pretrained_weight *w, bool pairs, bool back, float *data, mw_error *err)
{
    pairs = pairs && w->paired_heads > 0;
    if (!pairs && !w->inputs_first)
        return MW_OK;
    const size_t count = (size_t)mw_shape_count(w->shape);
    float *other = mw__alloc(mw__allocator_default(), count, sizeof *other, err);
    if (other == NULL)
        return MW_ERROR_MEMORY;
    if (pairs)
        turn_pairs(w, back, data, other);
    else
        transpose(w, back, data, other);
    memcpy(data, other, count * sizeof *data);
    mw__free(mw__allocator_default(), other);
    return MW_OK;
}
