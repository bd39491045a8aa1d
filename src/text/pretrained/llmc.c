/* Files of llm.c: GPT-2 with a header of 256 numbers, floats (version 3) or bfloat16 (5), weights as [outputs, inputs],
 * and a table of words that is filled up to a multiple of 128. */
#include "text/pretrained/raw.h"

enum { HEADER = 1024, F32_VERSION = 3, BF16_VERSION = 5 };

static const mw__raw_item words[] = {{MW__PART_WORDS, false}, {MW__PARTS, false}};
static const mw__raw_item order[] = {{MW__PART_PLACES, false},
                                     {MW__PART_BEFORE_ATTENTION, false},
                                     {MW__PART_BEFORE_ATTENTION, true},
                                     {MW__PART_JOINED, false},
                                     {MW__PART_JOINED, true},
                                     {MW__PART_MIXED, false},
                                     {MW__PART_MIXED, true},
                                     {MW__PART_BEFORE_MLP, false},
                                     {MW__PART_BEFORE_MLP, true},
                                     {MW__PART_UP, false},
                                     {MW__PART_UP, true},
                                     {MW__PART_DOWN, false},
                                     {MW__PART_DOWN, true},
                                     {MW__PART_LAST_NORM, false},
                                     {MW__PART_LAST_NORM, true},
                                     {MW__PARTS, false}};

/* mark version positions words layers heads width words-with-padding */
static mw_status read_header(mw__pretrained *p, mw__raw_code *code, int64_t *padded, mw_error *err)
{
    unsigned char bytes[HEADER];
    mw_text_config *c = &p->config;
    MW_TRY(mw__file_read_at(&p->file, 0, bytes, sizeof bytes, p->path, err));
    const int32_t version = mw__raw_int(bytes, 1);
    if (version != F32_VERSION && version != BF16_VERSION)
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "\"%.200s\" is of llm.c's version %d; 3 and 5 are read", p->path,
                        (int)version);
    *code = version == F32_VERSION ? MW__RAW_F32 : MW__RAW_BF16;
    *c = mw_text_config_defaults("gpt2");
    c->positions = mw__raw_int(bytes, 2);
    c->words = mw__raw_int(bytes, 3);
    c->layers = mw__raw_int(bytes, 4);
    c->heads = c->kv_heads = mw__raw_int(bytes, 5);
    c->width = mw__raw_int(bytes, 6);
    c->hidden = 4 * c->width;
    *padded = mw__raw_int(bytes, 7);
    MW_TRY(mw__raw_check(c, p->path, err));
    c->head_width = c->width / c->heads;
    if (*padded < c->words)
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.200s\" has %lld rows for %lld words", p->path, (long long)*padded,
                        (long long)c->words);
    return MW_OK;
}

static mw_status open_llmc(mw__pretrained *p, mw_error *err)
{
    mw__raw_code code;
    int64_t padded;
    uint64_t at = HEADER, filling = 0;
    MW_TRY(read_header(p, &code, &padded, err));
    MW_TRY(mw__pretrained_list(&p->config, &p->arena, &p->weights, &p->count, err));
    mw__raw_place *places = mw__arena_alloc(&p->arena, p->count, sizeof *places, err);
    if (places == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(mw__raw_place_all(p, words, code, 1, places, &at, err));
    mw__raw_size(code, 1, (padded - p->config.words) * p->config.width, &filling);
    at += filling;
    return mw__raw_place_all(p, order, code, 1, places, &at, err);
}

static mw_status read_llmc(mw__pretrained *p, size_t weight, float *out, mw_error *err)
{
    MW_TRY(mw__raw_read(p, weight, out, err));
    return mw__pretrained_turn(&p->weights[weight], false, true, out, err);
}

const mw__pretrained_form mw__pretrained_llmc = {.name = "llm.c", .open = open_llmc, .read = read_llmc};
