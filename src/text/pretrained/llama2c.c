/* Files of llama2.c. Version 0 has 7 numbers and then floats; 1 and 2 have a header of 256 bytes, and 2 has bytes in
 * groups with a float each. Rows of query and key stand in pairs. */
#include "text/pretrained/llama2c.h"

#include "base/number/bytes.h"

/* Of the network, then of layers, in the order of each version. */
const mw__raw_item mw__llama2c_order_0[] = {{MW__PART_WORDS, false},      {MW__PART_BEFORE_ATTENTION, false},
                                            {MW__PART_QUERY, false},      {MW__PART_KEY, false},
                                            {MW__PART_VALUE, false},      {MW__PART_MIXED, false},
                                            {MW__PART_BEFORE_MLP, false}, {MW__PART_GATE, false},
                                            {MW__PART_DOWN, false},       {MW__PART_UP, false},
                                            {MW__PART_LAST_NORM, false},  {MW__PARTS, false}};
const mw__raw_item mw__llama2c_norms[] = {
    {MW__PART_BEFORE_ATTENTION, false}, {MW__PART_BEFORE_MLP, false}, {MW__PART_LAST_NORM, false}, {MW__PARTS, false}};
const mw__raw_item mw__llama2c_products[] = {{MW__PART_WORDS, false}, {MW__PART_QUERY, false}, {MW__PART_KEY, false},
                                             {MW__PART_VALUE, false}, {MW__PART_MIXED, false}, {MW__PART_GATE, false},
                                             {MW__PART_DOWN, false},  {MW__PART_UP, false},    {MW__PART_HEAD, false},
                                             {MW__PARTS, false}};
const mw__raw_item mw__llama2c_head[] = {{MW__PART_HEAD, false}, {MW__PARTS, false}};

/* What a header says. */
typedef struct header {
    int version;
    int64_t group;
    uint64_t end;
} header;

/* width hidden layers heads groups words positions */
static void take_sizes(mw_text_config *c, const unsigned char *at)
{
    *c = mw_text_config_defaults("llama");
    c->width = mw__raw_int(at, 0);
    c->hidden = mw__raw_int(at, 1);
    c->layers = mw__raw_int(at, 2);
    c->heads = mw__raw_int(at, 3);
    c->kv_heads = mw__raw_int(at, 4);
    c->words = mw__raw_int(at, 5);
    c->positions = mw__raw_int(at, 6);
    c->norm_epsilon = 1e-5F;
    c->query_scale = 0.0;
}

static mw_status read_header(mw__pretrained *p, header *h, mw_error *err)
{
    unsigned char bytes[MW__LLAMA2C_HEADER] = {0};
    const size_t size = p->file.size < sizeof bytes ? (size_t)p->file.size : sizeof bytes;
    mw_text_config *c = &p->config;
    MW_TRY(mw__file_read_at(&p->file, 0, bytes, size, p->path, err));
    *h = (header){.version = mw__bytes_u32(bytes) == MW__LLAMA2C_MARK ? mw__raw_int(bytes, 1) : 0, .end = 28};
    if (h->version < 0 || h->version > 2 || (h->version == 0 && mw__bytes_u32(bytes) == MW__LLAMA2C_MARK))
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "\"%.200s\" is of llama2.c's version %d; 0, 1 and 2 are read",
                        p->path, h->version);
    take_sizes(c, bytes + (h->version > 0 ? 8 : 0));
    c->tied = h->version > 0 ? bytes[36] != 0 : c->words > 0;
    c->words = h->version == 0 && c->words < 0 ? -c->words : c->words;
    h->end = h->version > 0 ? MW__LLAMA2C_HEADER : h->end;
    h->group = h->version == 2 ? (int32_t)mw__bytes_u32(bytes + 37) : 1;
    MW_TRY(mw__raw_check(c, p->path, err));
    c->head_width = c->width / c->heads;
    if (h->group < 1)
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.200s\" has groups of %lld", p->path, (long long)h->group);
    return MW_OK;
}

/* Version 0 has two tables of rotations before the head, which are not read. */
static mw_status place_0(mw__pretrained *p, mw__raw_place *places, uint64_t at, mw_error *err)
{
    uint64_t tables = 0;
    MW_TRY(mw__raw_place_all(p, mw__llama2c_order_0, MW__RAW_F32, 1, places, &at, err));
    mw__raw_size(MW__RAW_F32, 1, p->config.positions * p->config.head_width, &tables);
    at += tables;
    return mw__raw_place_all(p, mw__llama2c_head, MW__RAW_F32, 1, places, &at, err);
}

static mw_status open_llama2c(mw__pretrained *p, mw_error *err)
{
    header h;
    MW_TRY(read_header(p, &h, err));
    MW_TRY(mw__pretrained_list(&p->config, &p->arena, &p->weights, &p->count, err));
    mw__raw_place *places = mw__arena_alloc(&p->arena, p->count, sizeof *places, err);
    if (places == NULL)
        return MW_ERROR_MEMORY;
    if (h.version == 0)
        return place_0(p, places, h.end, err);
    MW_TRY(mw__raw_place_all(p, mw__llama2c_norms, MW__RAW_F32, 1, places, &h.end, err));
    return mw__raw_place_all(p, mw__llama2c_products, h.version == 2 ? MW__RAW_Q8 : MW__RAW_F32, h.group, places,
                             &h.end, err);
}

static mw_status read_llama2c(mw__pretrained *p, size_t weight, float *out, mw_error *err)
{
    MW_TRY(mw__raw_read(p, weight, out, err));
    return mw__pretrained_turn(&p->weights[weight], true, true, out, err);
}

const mw__pretrained_form mw__pretrained_llama2c = {.name = "llama2.c", .open = open_llama2c, .read = read_llama2c};
