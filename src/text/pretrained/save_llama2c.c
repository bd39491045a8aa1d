/* Writes llama2.c's files, in the orders of llama2c.c. */
#include "text/pretrained/llama2c.h"
#include "text/pretrained/save.h"

#include <math.h>
#include <string.h>

enum { GROUP = 64 };

typedef struct bin_saving {
    mw__saving *saving;
    mw__file_writer writer;
    int64_t group; /* of bytes; 0 = floats */
    float *room;   /* the largest weight */
    unsigned char *bytes;
} bin_saving;

/* ---- what has a place ---- */

static mw_status check_llama2c(const mw_text_config *c, mw_error *err)
{
    const char *why = strcmp(c->family, "llama") != 0          ? "networks of llama alone, with no window"
                      : c->rope_factor != 1.0                  ? "no scaled positions"
                      : c->rope_theta != 10000.0               ? "rotary positions to the base 10000 alone"
                      : c->head_width * c->heads != c->width   ? "heads that fill the width alone"
                      : fabsf(c->norm_epsilon - 1e-5F) > 1e-9F ? "an epsilon of 1e-5 alone"
                                                               : NULL;
    return why == NULL ? MW_OK : mw__fail(err, MW_ERROR_UNSUPPORTED, "llama2.c has %s", why);
}

/* The largest group, a power of two, that divides all rows. */
static int64_t group_for(const mw_text_config *c)
{
    const int64_t wide = c->heads * c->head_width;
    int64_t group = GROUP;
    while (group > 1 && (c->width % group != 0 || c->hidden % group != 0 || wide % group != 0))
        group /= 2;
    return group;
}

/* ---- elements ---- */

static void put_int(unsigned char *at, int64_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (unsigned char)((uint64_t)value >> (8 * i));
}

static void put_float(unsigned char *at, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_int(at, bits);
}

/* Bytes of all elements, then a scale for each group: max |x| / 127, halves rounded to even. */
static size_t pack_groups(const bin_saving *b, int64_t count)
{
    for (int64_t g = 0; g < count / b->group; g++) {
        const float *in = b->room + g * b->group;
        float largest = 0.0F;
        for (int64_t i = 0; i < b->group; i++)
            largest = fmaxf(largest, fabsf(in[i]));
        const float scale = largest / 127.0F;
        put_float(b->bytes + count + 4 * g, scale);
        for (int64_t i = 0; i < b->group; i++)
            b->bytes[g * b->group + i] = (unsigned char)(int8_t)(scale > 0.0F ? rintf(in[i] / scale) : 0.0F);
    }
    return (size_t)(count + 4 * (count / b->group));
}

static size_t pack_floats(const bin_saving *b, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        put_float(b->bytes + 4 * i, b->room[i]);
    return (size_t)(4 * count);
}

static mw_status write_weight(bin_saving *b, size_t i, bool grouped, mw_error *err)
{
    const mw__pretrained_weight *w = &b->saving->source.weights[i];
    const int64_t count = mw_shape_count(w->shape);
    MW_TRY(mw__saving_read(b->saving, i, b->room, err));
    MW_TRY(mw__pretrained_turn(w, true, false, b->room, err));
    for (int64_t k = 0; k < count; k++)
        if (!isfinite(b->room[k]))
            return mw__fail(err, MW_ERROR_NUMERIC, "element %lld of \"%.150s\" is not finite", (long long)k, w->name);
    const size_t size = grouped ? pack_groups(b, count) : pack_floats(b, count);
    return mw__file_writer_write(&b->writer, b->bytes, size, err);
}

static mw_status write_order(bin_saving *b, const mw__raw_item *order, bool grouped, mw_error *err)
{
    const mw__pretrained *p = &b->saving->source;
    for (; order->part != MW__PARTS; order++)
        for (size_t i = 0; i < p->count; i++)
            if (p->weights[i].part == order->part && p->weights[i].bias == order->bias)
                MW_TRY(write_weight(b, i, grouped, err));
    return MW_OK;
}

/* ---- the file ---- */

static void put_sizes(unsigned char *at, const mw_text_config *c, int64_t words)
{
    const int64_t sizes[] = {c->width, c->hidden, c->layers, c->heads, c->kv_heads, words, c->positions};
    for (int i = 0; i < 7; i++)
        put_int(at + 4 * i, sizes[i]);
}

/* The cosines and sines of version 0, which its reader skips. */
static mw_status write_tables(bin_saving *b, mw_error *err)
{
    const mw_text_config *c = &b->saving->source.config;
    const int64_t half = c->head_width / 2;
    for (int table = 0; table < 2; table++)
        for (int64_t i = 0; i < c->positions; i++) {
            for (int64_t k = 0; k < half; k++) {
                const double angle = (double)i * mw__language_frequency(c, k, false);
                put_float(b->bytes + 4 * k, (float)(table == 0 ? cos(angle) : sin(angle)));
            }
            MW_TRY(mw__file_writer_write(&b->writer, b->bytes, (size_t)(4 * half), err));
        }
    return MW_OK;
}

static mw_status write_0(bin_saving *b, mw_error *err)
{
    const mw_text_config *c = &b->saving->source.config;
    unsigned char header[28];
    put_sizes(header, c, c->tied ? c->words : -c->words);
    MW_TRY(mw__file_writer_write(&b->writer, header, sizeof header, err));
    MW_TRY(write_order(b, mw__llama2c_order_0, false, err));
    MW_TRY(write_tables(b, err));
    return write_order(b, mw__llama2c_head, false, err);
}

static mw_status write_1_or_2(bin_saving *b, int version, mw_error *err)
{
    const mw_text_config *c = &b->saving->source.config;
    unsigned char header[MW__LLAMA2C_HEADER] = {0};
    put_int(header, MW__LLAMA2C_MARK);
    put_int(header + 4, version);
    put_sizes(header + 8, c, c->words);
    header[36] = c->tied;
    if (version == 2)
        put_int(header + 37, b->group);
    MW_TRY(mw__file_writer_write(&b->writer, header, sizeof header, err));
    MW_TRY(write_order(b, mw__llama2c_norms, false, err));
    return write_order(b, mw__llama2c_products, version == 2, err);
}

static mw_status write_bin(bin_saving *b, mw_error *err)
{
    const mw__pretrained *p = &b->saving->source;
    const int version = b->saving->options->version;
    size_t most = 2 * (size_t)p->config.head_width;
    for (size_t i = 0; i < p->count; i++) {
        const size_t count = (size_t)mw_shape_count(p->weights[i].shape);
        most = count > most ? count : most;
    }
    b->group = version == 2 ? group_for(&p->config) : 0;
    b->room = mw__alloc(mw__allocator_default(), most, sizeof *b->room, err);
    b->bytes = mw__alloc(mw__allocator_default(), most, 5, err); /* a scale for each byte at most */
    if (b->room == NULL || b->bytes == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(mw__file_writer_begin(&b->writer, mw__allocator_default(), b->saving->path, true, err));
    mw_status status = version == 0 ? write_0(b, err) : write_1_or_2(b, version, err);
    if (status == MW_OK)
        status = mw__file_writer_commit(&b->writer, err);
    mw__file_writer_deinit(&b->writer);
    return status;
}

mw_status mw__saving_llama2c(mw__saving *s, mw_error *err)
{
    bin_saving b = {.saving = s};
    MW_TRY(check_llama2c(&s->source.config, err));
    if (s->options->check_only)
        return mw__saving_check_file(s->path, err);
    const mw_status status = write_bin(&b, err);
    mw__free(mw__allocator_default(), b.room);
    mw__free(mw__allocator_default(), b.bytes);
    return status;
}
