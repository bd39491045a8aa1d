/* The coefficients that tasks of H13 read: which tile of which engine holds which weight, and tables of activations.
 * Sources: freedomtan/coreml_to_ane_hwx (registers); joshuaswarren/mil-hwx-compiler (order of the coefficients, found
 * by known weights); allbilly/ane. What they leave open stays opaque, with the reason. */
#include "chip/hwx/read.h"

#include "base/memory/live.h"
#include "base/number/bytes.h"
#include "base/number/fp16.h"
#include "chip/task/table.h"

#include <math.h>
#include <string.h>

enum { ENGINES = MW__TILES };

/* What decides the order of a kernel. */
typedef struct shape {
    uint32_t format, mac, conv, group, out_channels, in_channels, config;
} shape;

static shape read_shape(const mw__hwx_task *task)
{
    return (shape){.format = mw__hwx_task_value(task, 0xc800),
                   .mac = mw__hwx_task_value(task, 0xc804),
                   .conv = mw__hwx_task_value(task, 0x1c),
                   .group = mw__hwx_task_value(task, 0x24),
                   .in_channels = mw__hwx_task_value(task, 0xc) & 0x1FFFF,
                   .out_channels = mw__hwx_task_value(task, 0x10) & 0x1FFFF,
                   .config = mw__hwx_task_value(task, 0x34)};
}

/* ---- tiles ---- */

/* The tiles of the engines that have one; false if they are not in one section. */
static bool find_tiles(const mw_hwx *hwx, const mw__hwx_task *task, mw__hwx_kernel *out)
{
    const uint64_t *registers = mw__hwx_registers(hwx);
    const uint64_t base = registers != NULL ? registers[task->public.words[9] & 0x1F] : 0;
    for (size_t i = 0; i < hwx->section_count && out->section == NULL; i++) {
        const mw__hwx_section_fields *s = &hwx->sections[i]->public;
        if (s->data != NULL && base >= s->address && base - s->address < s->size)
            out->section = hwx->sections[i];
    }
    if (out->section == NULL)
        return false;
    const uint64_t size = out->section->public.size, start = base - out->section->public.address;
    for (uint32_t i = 0; i < ENGINES; i++) {
        if ((out->live >> i & 1) == 0)
            continue;
        const uint64_t at = start + mw__hwx_task_value(task, 0x1f848 + 4 * i),
                       length = mw__hwx_task_value(task, 0x1f888 + 4 * i);
        if (at > size || length > size - at)
            return false;
        out->tile_at[i] = (size_t)at;
        out->tile_size[i] = (size_t)length;
        out->public.size += length;
    }
    return true;
}

static uint32_t live_tiles(const mw__hwx_task *task)
{
    uint32_t live = 0;
    if ((task->public.words[9] & 0x20) == 0)
        return 0;
    for (uint32_t i = 0; i < ENGINES; i++)
        live |= (mw__hwx_task_value(task, 0x1f808 + 4 * i) & 1) << i;
    return live;
}

/* ---- the order of the coefficients ---- */

static size_t rows_of(const mw__hwx_kernel *k)
{
    return (size_t)k->public.extent[1] * k->public.extent[2] * k->public.extent[3];
}

static bool sizes_agree(const mw__hwx_kernel *k)
{
    for (unsigned i = 0; i < ENGINES; i++) {
        const bool live = (k->live >> i & 1) != 0;
        const int64_t wanted = mw__coefficient_tile_bytes(&k->layout, i);
        if (live != (wanted != 0) || (live && (uint64_t)wanted != k->tile_size[i]))
            return false;
    }
    return true;
}

/* Why the order of the weights is not known; NULL if it is. */
static const char *why_opaque(const shape *s, const mw__hwx_kernel *k)
{
    if ((s->mac & 0xF) != 0)
        return "the task does not multiply by it";
    if ((s->format & 0x100) != 0)
        return "sparse: only a 1x1 kernel of at most 8 lanes was ever derived";
    if ((s->format & 0x4) != 0)
        return "palettized";
    if ((s->format & 3) != 2)
        return "the weights are not fp16";
    if ((s->mac >> 16 & 3) == 2)
        return "weights and a table in one task";
    if ((s->conv >> 13 & 0xF) != 5)
        return "strides other than 1";
    if (k->layout.lanes > MW__LANES_MAX || k->layout.engines > ENGINES)
        return "more lanes or engines than the chip has";
    if (k->layout.outputs < 1 || k->layout.rows < 1 || s->out_channels % k->layout.groups != 0)
        return "no channels, or groups that do not divide them";
    return sizes_agree(k) ? NULL : "the sizes of the tiles are not those of the known order";
}

/* All engines read one table. */
static bool is_table(const shape *s, const mw__hwx_kernel *k)
{
    bool same = (k->live & 1) != 0 && k->tile_size[0] >= MW__TABLE_BYTES;
    for (uint32_t i = 1; i < ENGINES; i++)
        same = same && ((k->live >> i & 1) == 0 || k->tile_at[i] == k->tile_at[0]);
    return same && (s->format & 3) == 0 && (s->mac >> 16 & 3) == 2;
}

static void describe_kernel(const mw__hwx_task *task, mw__hwx_kernel *k)
{
    const shape s = read_shape(task);
    const bool unicast = (s.group & 0x4000) != 0;
    const uint32_t groups = unicast || (s.group & 0x1FFF) == 0 ? 1 : s.group & 0x1FFF;
    k->public.has_bias = (s.mac & 0x10) != 0;
    k->public.lanes = UINT32_C(1) << (s.conv >> 10 & 7);
    k->public.extent[0] = s.out_channels;
    k->public.extent[1] = unicast ? s.group >> 16 : s.in_channels / groups;
    k->public.extent[2] = s.conv >> 5 & 0x1F;
    k->public.extent[3] = s.conv & 0x1F;
    k->layout = (mw__coefficient_layout){.outputs = s.out_channels / groups,
                                         .groups = groups,
                                         .rows = (int64_t)rows_of(k),
                                         .engines = 1U << (s.config >> 19 & 7),
                                         .lanes = k->public.lanes,
                                         .bias = k->public.has_bias,
                                         .unicast = unicast};
    if (is_table(&s, k)) {
        k->public.kind = MW_HWX_TABLE;
        k->public.size = k->tile_size[0];
        k->live = 1;
    } else
        k->public.note = why_opaque(&s, k);
}

static void find_kernel(const mw_hwx *hwx, const mw__hwx_task *task, mw__hwx_kernel *k)
{
    k->public.task = (size_t)(task - hwx->tasks);
    for (uint32_t i = 0; i < ENGINES; i++)
        k->public.tiles += k->live >> i & 1;
    if (find_tiles(hwx, task, k))
        describe_kernel(task, k);
    else
        k->public.note = "its tiles are in no section of the file";
    if (k->public.note != NULL)
        k->public.kind = MW_HWX_OPAQUE;
}

mw_status mw__hwx_find_kernels(mw_hwx *hwx, mw_error *err)
{
    if (hwx->info.chip != MW_CHIP_H13)
        return MW_OK;
    size_t count = 0;
    for (size_t i = 0; i < hwx->task_count; i++)
        count += live_tiles(&hwx->tasks[i]) != 0;
    hwx->kernels = mw__arena_alloc(&hwx->arena, count, sizeof *hwx->kernels, err);
    if (hwx->kernels == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < hwx->task_count; i++) {
        mw__hwx_kernel *k = &hwx->kernels[hwx->kernel_count];
        const uint32_t live = live_tiles(&hwx->tasks[i]);
        if (live == 0)
            continue;
        k->live = live;
        hwx->kernel_count++;
        find_kernel(hwx, &hwx->tasks[i], k);
    }
    return MW_OK;
}

/* ---- weights ---- */

typedef struct copy {
    uint16_t *weights, *bias; /* bias may be NULL */
    bool into_file;
} copy;

static void move_half(uint8_t *at, uint16_t *half, bool into_file)
{
    if (into_file) {
        at[0] = (uint8_t)*half;
        at[1] = (uint8_t)(*half >> 8);
    } else {
        *half = mw__bytes_u16(at);
    }
}

static void copy_channel(const mw__hwx_kernel *k, int64_t channel, const copy *c)
{
    const int64_t rows = k->layout.rows;
    const mw__coefficient_place place =
        mw__coefficient_find(&k->layout, channel / k->layout.outputs, channel % k->layout.outputs);
    uint8_t *at = k->section->data + k->tile_at[place.tile] + place.first * 2;
    if (k->public.has_bias) {
        if (c->bias != NULL)
            move_half(at, &c->bias[channel], c->into_file);
        at += place.step * 2;
    }
    for (int64_t j = 0; j < rows; j++)
        move_half(at + j * place.step * 2, &c->weights[channel * rows + j], c->into_file);
}

static mw_status find_weights(const mw_hwx *hwx, size_t index, size_t count, const char *call, mw__hwx_kernel **out,
                              mw_error *err)
{
    MW_TRY(mw__live_check(hwx, MW__LIVE_HWX, call, err));
    if (index >= hwx->kernel_count)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: kernel %zu of %zu", call, index, hwx->kernel_count);
    mw__hwx_kernel *k = *out = &hwx->kernels[index];
    if (k->public.kind != MW_HWX_WEIGHTS)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: kernel %zu has no weights that can be told apart: %s", call, index,
                        k->public.note != NULL ? k->public.note : "it is a table");
    if (count != rows_of(k) * k->public.extent[0])
        return mw__fail(err, MW_ERROR_SHAPE, "%s: kernel %zu is [%u, %u, %u, %u], not %zu weights", call, index,
                        k->public.extent[0], k->public.extent[1], k->public.extent[2], k->public.extent[3], count);
    return MW_OK;
}

static mw_status copy_weights(const mw_hwx *hwx, size_t kernel, const copy *c, size_t count, const char *call,
                              mw_error *err)
{
    mw_error own = {0};
    err = err != NULL ? err : &own;
    mw__hwx_kernel *k = NULL;
    if (mw__skips(err))
        return err->status;
    MW_TRY(find_weights(hwx, kernel, count, call, &k, err));
    if (c->weights == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: weights are needed", call);
    if (c->into_file && c->bias != NULL && !k->public.has_bias)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: kernel %zu has no bias", call, kernel);
    for (int64_t o = 0; o < k->public.extent[0]; o++)
        copy_channel(k, o, c);
    return MW_OK;
}

mw_status mw_hwx_get_weights(const mw_hwx *hwx, size_t kernel, uint16_t *weights, size_t count, uint16_t *bias,
                             mw_error *err)
{
    return copy_weights(hwx, kernel, &(copy){weights, bias, false}, count, __func__, err);
}

mw_status mw_hwx_set_weights(mw_hwx *hwx, size_t kernel, const uint16_t *weights, size_t count, const uint16_t *bias,
                             mw_error *err)
{
    /* Only read from, as they go into the file. */
    const copy c = {(uint16_t *)(uintptr_t)weights, (uint16_t *)(uintptr_t)bias, true};
    return copy_weights(hwx, kernel, &c, count, __func__, err);
}

/* ---- tables ---- */

static float half_at(const uint8_t *at, size_t index) { return mw__fp16_to_float(mw__bytes_u16(at + index * 2)); }

static int integer_at(const uint8_t *at, size_t index) { return mw__bytes_u16(at + index * 2); }

static void read_table(const uint8_t *at, mw_hwx_table *out)
{
    *out = (mw_hwx_table){.x_low = half_at(at, 0),
                          .x_high = half_at(at, 1),
                          .y_low = half_at(at, 2),
                          .y_high = half_at(at, 3),
                          .slope_low = half_at(at, 37),
                          .intercept_low = half_at(at, 38),
                          .slope_high = half_at(at, 39),
                          .intercept_high = half_at(at, 40),
                          .spacing = integer_at(at, 41),
                          .mode = (uint32_t)integer_at(at, 42)};
    for (size_t i = 0; i < MW__TABLE_KNOTS; i++)
        out->knots[i] = half_at(at, 4 + i);
    out->first = out->mode == 1 ? -16.0F * ldexpf(1.0F, -out->spacing) : NAN;
}

mw_status mw_hwx_get_table(const mw_hwx *hwx, size_t kernel, mw_hwx_table *out, mw_error *err)
{
    mw_error own = {0};
    err = err != NULL ? err : &own;
    if (mw__skips(err))
        return err->status;
    if (out == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_hwx_get_table: out is needed");
    memset(out, 0, sizeof *out);
    MW_TRY(mw__live_check(hwx, MW__LIVE_HWX, __func__, err));
    if (kernel >= hwx->kernel_count || hwx->kernels[kernel].public.kind != MW_HWX_TABLE)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_hwx_get_table: kernel %zu is no table", kernel);
    const mw__hwx_kernel *k = &hwx->kernels[kernel];
    read_table(k->section->data + k->tile_at[0], out);
    return MW_OK;
}
