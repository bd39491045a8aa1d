/* An operation as the words of a task, and its coefficients as tiles. */
#include "base/number/integer.h"
#include "chip/task/emit.h"

#include "chip/task/table.h"

#include <inttypes.h>
#include <string.h>

enum { ROW_GRAIN = 64, L2_GRAIN = 16, L2_BYTES = 1 << 21 /* addresses there have 21 bits */, NARROW = 8 };
enum { LIVE = 0x81, IDLE = 0x80, READS_COEFFICIENTS = 0x40, IDLE_BYTES = 0x40, HALF = 2, ONE = 0x3c00 };

int64_t mw__emit_row(const mw__emit_extent *e) { return mw__i64_round_up(2 * e->w, ROW_GRAIN); }
int64_t mw__emit_plane(const mw__emit_extent *e) { return mw__emit_row(e) * e->h; }
int64_t mw__emit_bytes(const mw__emit_extent *e) { return mw__emit_plane(e) * e->c; }

/* ---- words ---- */

typedef struct words {
    uint32_t at[MW__EMIT_WORDS];
} words;

/* Units stand one behind the other, each behind the head of its run. */
static size_t unit_start(mw__chip_unit_id unit)
{
    size_t at = MW__TASK_HEADER;
    for (int u = MW__UNIT_header + 1; u < (int)unit; u++)
        at += 1 + mw__chip_unit_rows()[u].words;
    return at;
}

static uint32_t *word_at(words *w, mw__register_id id, unsigned index)
{
    const mw__register_row *row = &mw__register_rows()[id];
    const mw__chip_unit_row *unit = &mw__chip_unit_rows()[row->unit];
    const size_t offset = (row->address - unit->address) / 4 + index;
    return &w->at[row->unit == MW__UNIT_header ? offset : unit_start(row->unit) + 1 + offset];
}

static void put_register(words *w, mw__register_id id, uint32_t value) { *word_at(w, id, 0) = value; }
static void put_at(words *w, mw__register_id id, unsigned index, int64_t value)
{
    *word_at(w, id, index) = (uint32_t)value;
}

static void put_field(words *w, mw__field_id id, int64_t value)
{
    uint32_t *word = word_at(w, mw__field_rows()[id].in, 0);
    *word = mw__field_put(id, *word, (uint32_t)value);
}

static void put_heads(words *w)
{
    for (int u = MW__UNIT_header + 1; u < MW__UNIT_COUNT; u++) {
        const mw__chip_unit_row *unit = &mw__chip_unit_rows()[u];
        w->at[unit_start((mw__chip_unit_id)u)] = (unit->words - 1) << 26 | unit->address;
    }
}

/* ---- words that are copied ---- */

enum { PASS = 1, PRODUCT = 2, PLANAR = 4, NEURAL = PASS | PRODUCT, ALL = NEURAL | PLANAR };

#define MW_GUESSED(id_, rule_, seen_)
#define MW_COPIED(id_, tasks_, value_, seen_) {MW__REGISTER_##id_, tasks_, value_},
static const struct copied {
    mw__register_id id;
    unsigned tasks;
    uint32_t value;
} copied[] = {
#include "chip/task/words.def"
};
#undef MW_COPIED
#undef MW_GUESSED

#define MW_GUESSED(id_, rule_, seen_)         {.id = MW__REGISTER_##id_, .rule = rule_, .seen = seen_},
#define MW_COPIED(id_, tasks_, value_, seen_) {MW__REGISTER_##id_, #tasks_, value_, NULL, seen_},
bool mw__emit_word_at(size_t index, mw__emit_word *out)
{
    static const mw__emit_word rows[] = {
#include "chip/task/words.def"
    };
    if (index >= sizeof rows / sizeof *rows)
        return false;
    *out = rows[index];
    return true;
}
#undef MW_COPIED
#undef MW_GUESSED

static unsigned tasks_of(mw__emit_kind kind)
{
    return kind == MW__EMIT_PLANAR ? PLANAR : kind == MW__EMIT_PRODUCT ? PRODUCT : PASS; /* a concat is passes */
}

static void put_copied(words *w, mw__emit_kind kind)
{
    for (size_t i = 0; i < sizeof copied / sizeof *copied; i++)
        if ((copied[i].tasks & tasks_of(kind)) != 0)
            put_register(w, copied[i].id, copied[i].value);
}

/* ---- header, shapes, tiles ---- */

static int log2_of(unsigned power)
{
    int log = 0;
    while (power >> (log + 1) != 0)
        log++;
    return log;
}

static void put_header(words *w, const mw__emit_operation *op, unsigned engines)
{
    put_field(w, MW__FIELD_last, 1);
    put_field(w, MW__FIELD_source1_base, MW__EMIT_BASE_OUTPUT + op->input_count - op->first);
    put_field(w, MW__FIELD_source1_enable, 1);
    if (op->kind == MW__EMIT_PLANAR) {
        put_field(w, MW__FIELD_source2_base, MW__EMIT_BASE_OUTPUT + 1 + op->first);
        put_field(w, MW__FIELD_source2_enable, 1);
    }
    put_field(w, MW__FIELD_target_base, MW__EMIT_BASE_OUTPUT);
    put_field(w, MW__FIELD_target_enable, 1);
    if (op->kind != MW__EMIT_PLANAR)
        put_field(w, MW__FIELD_engines, log2_of(engines) + 1);
    if (op->kind == MW__EMIT_TABLE || op->kind == MW__EMIT_PRODUCT) {
        put_field(w, MW__FIELD_kernel_base, 1);
        put_field(w, MW__FIELD_kernel_enable, 1);
    }
}

static void put_kernel(words *w, const mw__emit_operation *op, unsigned lanes)
{
    const bool product = op->kind == MW__EMIT_PRODUCT;
    put_field(w, MW__FIELD_kernel_w, product ? op->kernel_w : 1);
    put_field(w, MW__FIELD_kernel_h, product ? op->kernel_h : 1);
    put_field(w, MW__FIELD_lanes, log2_of(lanes));
    put_field(w, MW__FIELD_stride_w, 1);
    put_field(w, MW__FIELD_stride_h, 1);
    put_field(w, MW__FIELD_pad_left, product ? op->pad_left : 0);
    put_field(w, MW__FIELD_pad_top, product ? op->pad_top : 0);
    put_field(w, MW__FIELD_offset_w, 1);
    put_field(w, MW__FIELD_offset_h, 1);
}

/* Guessed: how tiles are cut. */
static void put_shape_preferences(words *w, const mw__emit_operation *op, unsigned lanes)
{
    const mw__emit_extent *e = &op->output.extent;
    const bool product = op->kind == MW__EMIT_PRODUCT, small = e->w <= NARROW && e->h <= NARROW;
    const int preferred = product ? (small ? 4 : 3) : 1;
    *word_at(w, MW__REGISTER_cfg, 0) |= 1;
    put_field(w, MW__FIELD_small_source, product && small);
    put_field(w, MW__FIELD_shape_pref, preferred);
    put_field(w, MW__FIELD_shape_max, preferred);
    put_field(w, MW__FIELD_shape_min, product || e->w <= ROW_GRAIN ? preferred : 0);
    put_field(w, MW__FIELD_double_accumulate, lanes < MW__LANES_MAX);
}

static void put_shapes(words *w, const mw__emit_operation *op, unsigned engines, unsigned lanes)
{
    const mw__emit_extent *in = &op->inputs[0].extent, *out = &op->output.extent;
    const bool planar = op->kind == MW__EMIT_PLANAR;
    put_field(w, MW__FIELD_in_w, in->w);
    put_field(w, MW__FIELD_in_h, in->h);
    put_field(w, MW__FIELD_in_c, in->c);
    put_field(w, MW__FIELD_out_w, out->w);
    put_field(w, MW__FIELD_out_h, out->h);
    put_field(w, MW__FIELD_out_c, out->c);
    put_field(w, MW__FIELD_in_format, HALF);
    put_field(w, MW__FIELD_out_format, HALF);
    put_field(w, MW__FIELD_two_sources, planar);
    put_kernel(w, op, lanes);
    put_field(w, MW__FIELD_groups, 1);
    put_field(w, MW__FIELD_unicast_cin, 1);
    put_field(w, MW__FIELD_unicast, tasks_of(op->kind) == PASS);
    put_field(w, MW__FIELD_tile_height, out->h);
    if (planar)
        return;
    put_field(w, MW__FIELD_active_ne, log2_of(engines));
    put_shape_preferences(w, op, lanes);
}

static void put_tile(words *w, mw__register_id row, const mw__emit_extent *e)
{
    put_at(w, row, 0, mw__emit_row(e));
    put_at(w, row, 1, mw__emit_plane(e));
    put_at(w, row, 2, mw__emit_bytes(e));
}

static void put_tiles(words *w, const mw__emit_operation *op)
{
    put_tile(w, MW__REGISTER_source1_row, &op->inputs[0].extent);
    if (op->kind == MW__EMIT_PLANAR)
        put_tile(w, MW__REGISTER_source2_row, &op->inputs[1].extent);
    put_tile(w, MW__REGISTER_target_row, &op->output.extent);
}

/* ---- memory on the chip: rows of all channels ---- */

static int64_t l2_channel(const mw__emit_extent *e) { return mw__i64_round_up(2 * e->w, L2_GRAIN); }

/* Guessed: how much longer a row is than its elements. */
static int64_t l2_row(const mw__emit_extent *e, int64_t longer)
{
    const int64_t row = l2_channel(e) * e->c;
    return row % 256 == 0 ? row + longer : row;
}

static void put_l2(words *w, mw__register_id id, const mw__emit_extent *e, int64_t row)
{
    put_at(w, id, 0, l2_channel(e));
    put_at(w, id, 1, row);
    put_at(w, id, 2, l2_channel(e) * e->c);
    put_at(w, id, 3, l2_channel(e) * e->c);
}

/* A row of one channel is its own channel stride in the files of relu. */
static int64_t put_l2_sources(words *w, const mw__emit_operation *op)
{
    const mw__emit_extent *in = &op->inputs[0].extent;
    const int64_t longer = op->kind == MW__EMIT_PRODUCT ? 0x30 : op->kind == MW__EMIT_PLANAR ? 0x20 : 0;
    const int64_t row = l2_row(in, longer);
    put_l2(w, MW__REGISTER_l2_source, in, row);
    if (op->kind != MW__EMIT_PLANAR)
        return row * in->h;
    const int64_t second = mw__i64_round_up(row * in->h, ROW_GRAIN);
    put_at(w, MW__REGISTER_l2_source2_base, 0, second);
    put_l2(w, MW__REGISTER_l2_source2, in, row);
    return second + row * in->h;
}

static mw_status put_l2_all(words *w, const mw__emit_operation *op, mw_error *err)
{
    const mw__emit_extent *out = &op->output.extent;
    const int64_t base = put_l2_sources(w, op), row = l2_row(out, 0x20);
    put_at(w, MW__REGISTER_l2_result_base, 0, base);
    if (op->kind == MW__EMIT_PRODUCT)
        put_l2(w, MW__REGISTER_l2_result, out, row);
    if (base + row * out->h <= L2_BYTES)
        return MW_OK;
    return mw__fail(err, MW_ERROR_UNSUPPORTED,
                    "%" PRId64
                    " bytes of sources and result in one tile: the chip has %d for them, and how it cuts more "
                    "into tiles is not known",
                    base + row * out->h, L2_BYTES);
}

/* ---- engines ---- */

static int activation_of(const mw__emit_operation *op)
{
    if (op->kind == MW__EMIT_TABLE)
        return 2;
    return op->kind == MW__EMIT_RELU || op->relu;
}

static void put_engines(words *w, const mw__emit_operation *op)
{
    if (op->kind == MW__EMIT_PLANAR) {
        put_field(w, MW__FIELD_pe_operation, op->planar);
        put_field(w, MW__FIELD_pe_second, op->negative ? 3 : 2);
        return;
    }
    const bool product = op->kind == MW__EMIT_PRODUCT;
    put_field(w, MW__FIELD_kernel_format, product ? HALF : 0);
    put_field(w, MW__FIELD_palette_bits, 8);
    put_field(w, MW__FIELD_mac_operation, product ? 0 : 12);
    put_field(w, MW__FIELD_binary_point, product ? 14 : 0);
    put_field(w, MW__FIELD_bias_row, op->bias != NULL);
    put_field(w, MW__FIELD_activation, activation_of(op));
    put_field(w, MW__FIELD_mac_20, 1);
    put_field(w, MW__FIELD_post_scale_value, ONE);
}

/* ---- coefficients ---- */

static void put_coefficients(words *w, const mw__emit_operation *op, const mw__emit_program *program, unsigned engines,
                             const mw__coefficient_layout *layout)
{
    if (op->kind == MW__EMIT_PLANAR)
        return;
    const bool reads = op->kind == MW__EMIT_TABLE || op->kind == MW__EMIT_PRODUCT;
    put_register(w, MW__REGISTER_kernel_cfg0, reads ? READS_COEFFICIENTS : 0);
    for (unsigned t = 0; t < MW__TILES; t++) {
        const int64_t bytes = layout != NULL ? mw__coefficient_tile_bytes(layout, t) : MW__TABLE_BYTES;
        const bool live = reads && t < engines && bytes > 0;
        put_at(w, MW__REGISTER_coefficient_dma, t, live ? LIVE : IDLE);
        put_at(w, MW__REGISTER_coefficient_base, t, live ? (int64_t)program->tile_at[t] : 0);
        put_at(w, MW__REGISTER_coefficient_size, t, live ? bytes : IDLE_BYTES);
    }
    for (unsigned i = 0; i < mw__register_rows()[MW__REGISTER_stream_dma].count; i++)
        put_at(w, MW__REGISTER_stream_dma, i, IDLE);
}

static void put_number(uint8_t *at, uint16_t number)
{
    at[0] = (uint8_t)number;
    at[1] = (uint8_t)(number >> 8);
}

static void write_channel(const mw__emit_operation *op, const mw__coefficient_layout *layout, int64_t output,
                          const mw__emit_program *program)
{
    const mw__coefficient_place place = mw__coefficient_find(layout, 0, output);
    uint8_t *at = program->constants + program->tile_at[place.tile] + 2 * place.first;
    if (op->bias != NULL)
        put_number(at, op->bias[output]);
    for (int64_t i = 0; i < layout->rows; i++)
        put_number(at + 2 * (i + layout->bias) * place.step, op->weights[output * layout->rows + i]);
}

static mw_status write_weights(const mw__emit_operation *op, const mw__coefficient_layout *layout,
                               const mw_allocator *allocator, mw__emit_program *program, mw_error *err)
{
    for (unsigned t = 0; t < MW__TILES; t++) {
        const size_t bytes = (size_t)mw__coefficient_tile_bytes(layout, t);
        program->tile_at[t] = program->constants_size;
        program->constants_size += bytes;
        program->tiles += bytes > 0;
    }
    program->constants = mw__alloc(allocator, program->constants_size, 1, err);
    if (program->constants == NULL)
        return MW_ERROR_MEMORY;
    for (int64_t o = 0; o < layout->outputs; o++)
        write_channel(op, layout, o, program);
    return MW_OK;
}

/* What a program without coefficients has in their place is a page of zeros. */
static mw_status write_other(mw__emit_kind kind, const mw_allocator *allocator, mw__emit_program *program,
                             mw_error *err)
{
    enum { PAGE = 0x4000 };
    program->is_table = kind == MW__EMIT_TABLE;
    program->tiles = program->is_table;
    program->constants_size = program->is_table ? MW__TABLE_BYTES : PAGE;
    program->constants = mw__alloc(allocator, program->constants_size, 1, err);
    if (program->constants == NULL)
        return MW_ERROR_MEMORY;
    for (int i = 0; program->is_table && i < MW__TABLE_NUMBERS; i++)
        put_number(program->constants + 2 * i, mw__chip_table_sigmoid()[i]);
    return MW_OK;
}

/* ---- all of it ---- */

/* Shapes of the public files, which have every word of it. */
static bool is_sampled(const mw__emit_operation *op)
{
    const mw__emit_extent *in = &op->inputs[0].extent, *out = &op->output.extent;
    const bool row = in->c == 1 && in->h == 1, pixel = in->h == 1 && in->w == 1 && out->h == 1 && out->w == 1;
    switch (op->kind) {
    case MW__EMIT_RELU:
        return row && (in->w == 77 || in->w == 16);
    case MW__EMIT_TABLE:
        return row && in->w == 77;
    case MW__EMIT_PLANAR:
        return pixel && in->c == 64 && op->planar == 0 && !op->negative && op->first == 0;
    case MW__EMIT_CONCAT:
        return pixel && op->first == 0 && op->inputs[1].extent.c == 16 && (in->c == 16 || in->c == 16384);
    case MW__EMIT_PRODUCT:
        return pixel && op->kernel_h == 1 && op->kernel_w == 1 && !op->relu &&
               ((in->c == 3 && out->c == 3 && op->bias == NULL) || (in->c == 3 && out->c == 2 && op->bias != NULL) ||
                (in->c == out->c && (in->c == 64 || in->c == 512) && op->bias == NULL));
    }
    return false;
}

static mw_status put_all(words *w, const mw__emit_operation *op, const mw__emit_program *program,
                         const mw__coefficient_layout *layout, mw_error *err)
{
    const unsigned engines = mw__coefficient_engines(op->output.extent.c), lanes = layout != NULL ? layout->lanes : 1;
    put_heads(w);
    put_copied(w, op->kind);
    put_header(w, op, engines);
    put_shapes(w, op, engines, lanes);
    put_tiles(w, op);
    put_engines(w, op);
    put_coefficients(w, op, program, engines, layout);
    return put_l2_all(w, op, err);
}

static mw__coefficient_layout layout_of(const mw__emit_operation *op)
{
    const mw__emit_extent *in = &op->inputs[0].extent, *out = &op->output.extent;
    const int64_t rows = in->c * op->kernel_h * op->kernel_w, side = in->h > in->w ? in->h : in->w;
    return (mw__coefficient_layout){.outputs = out->c,
                                    .groups = 1,
                                    .rows = rows,
                                    .engines = mw__coefficient_engines(out->c),
                                    .lanes = mw__coefficient_lanes(out->c, rows, side),
                                    .bias = op->bias != NULL};
}

static mw_status check_extent(const mw__emit_port *port, mw_error *err)
{
    enum { SIDE = (1 << 15) - 1, CHANNELS = (1 << 17) - 1 };
    const mw__emit_extent *e = &port->extent;
    if (e->c >= 1 && e->c <= CHANNELS && e->h >= 1 && e->h <= SIDE && e->w >= 1 && e->w <= SIDE)
        return MW_OK;
    return mw__fail(err, MW_ERROR_UNSUPPORTED,
                    "\"%s\" is %" PRId64 " x %" PRId64 " x %" PRId64
                    ": registers hold channels up to %d, height and width up to %d",
                    port->name, e->c, e->h, e->w, CHANNELS, SIDE);
}

static mw_status check_extents(const mw__emit_operation *op, mw_error *err)
{
    for (int i = 0; i < op->input_count; i++)
        MW_TRY(check_extent(&op->inputs[i], err));
    MW_TRY(check_extent(&op->output, err));
    const int64_t numbers = op->output.extent.c * op->inputs[0].extent.c;
    if (op->kind == MW__EMIT_PRODUCT && numbers > INT32_MAX / (2 * op->kernel_h * op->kernel_w + 2))
        return mw__fail(err, MW_ERROR_UNSUPPORTED,
                        "%" PRId64 " x %" PRId64 " x %" PRId64 " x %" PRId64
                        " weights: places of coefficients have 31 bits",
                        op->output.extent.c, op->inputs[0].extent.c, op->kernel_h, op->kernel_w);
    return MW_OK;
}

static void write_words(const words *w, uint8_t *out)
{
    for (size_t i = 0; i < MW__EMIT_WORDS; i++)
        for (int byte = 0; byte < 4; byte++)
            out[4 * i + (size_t)byte] = (uint8_t)(w->at[i] >> (8 * byte));
}

/* ---- concat ---- */

/* What a task says of its place in the chain, as the files of concat have it; the masks of events and the bits of L2
 * are copied. */
static void put_place(words *w, bool first)
{
    put_field(w, MW__FIELD_not_first, !first);
    put_field(w, MW__FIELD_last, !first);
    put_field(w, MW__FIELD_task_id, !first);
    put_field(w, MW__FIELD_next_words, first ? MW__EMIT_WORDS - 1 : 0);
    put_register(w, MW__REGISTER_w2, first ? 0x400 : 0x422);
    put_register(w, MW__REGISTER_w4, first ? 0x68 : 0x6a);
    put_register(w, MW__REGISTER_w7, first ? MW__EMIT_NEXT : 0);
    put_field(w, MW__FIELD_texture_enable, first);
    if (!first) {
        put_register(w, MW__REGISTER_l2_source_cfg, 0x172);
        put_register(w, MW__REGISTER_l2_result_cfg, 0x17a);
    }
}

/* Part `index` is input `which`: passed on to its place in the result. */
static mw_status put_part(words *w, const mw__emit_operation *op, int index, const mw__emit_program *program,
                          mw_error *err)
{
    const int which = index == 0 ? op->first : 1 - op->first;
    mw__emit_operation part = *op;
    part.inputs[0] = part.output = op->inputs[which];
    part.first = which;
    MW_TRY(put_all(w, &part, program, NULL, err));
    put_place(w, index == 0);
    put_at(w, MW__REGISTER_target_offset, 0, index == 0 ? 0 : mw__emit_bytes(&op->inputs[op->first].extent));
    put_at(w, MW__REGISTER_target_depth, 0, mw__emit_bytes(&op->output.extent));
    return MW_OK;
}

static mw_status put_parts(const mw__emit_operation *op, mw__emit_program *out, mw_error *err)
{
    for (int i = 0; i < MW__EMIT_INPUTS; i++) {
        words w = {{0}};
        MW_TRY(put_part(&w, op, i, out, err));
        write_words(&w, out->text + (size_t)i * MW__EMIT_NEXT);
    }
    out->tasks = MW__EMIT_INPUTS;
    out->text_size = MW__EMIT_TEXT;
    return MW_OK;
}

static mw_status put_single(const mw__emit_operation *op, const mw__coefficient_layout *layout, mw__emit_program *out,
                            mw_error *err)
{
    words w = {{0}};
    MW_TRY(put_all(&w, op, out, layout, err));
    write_words(&w, out->text);
    out->tasks = 1;
    out->text_size = 4 * MW__EMIT_WORDS;
    return MW_OK;
}

mw_status mw__emit_task(const mw__emit_operation *op, const mw_allocator *allocator, mw__emit_program *out,
                        mw_error *err)
{
    *out = (mw__emit_program){0};
    MW_TRY(check_extents(op, err));
    const bool product = op->kind == MW__EMIT_PRODUCT;
    const mw__coefficient_layout layout = layout_of(op);
    *out = (mw__emit_program){.sampled = is_sampled(op)};
    mw_status status =
        product ? write_weights(op, &layout, allocator, out, err) : write_other(op->kind, allocator, out, err);
    if (status == MW_OK)
        status =
            op->kind == MW__EMIT_CONCAT ? put_parts(op, out, err) : put_single(op, product ? &layout : NULL, out, err);
    if (status != MW_OK) {
        mw__free(allocator, out->constants);
        *out = (mw__emit_program){0};
    }
    return status;
}
