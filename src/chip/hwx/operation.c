/* Tasks as operations. A register that would change the result and is not at its plain value makes the operation
 * unknown. Source of the values: allbilly/ane (register map, seen on an M1); the files of tinygrad. */
#include "chip/hwx/operation.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST = 96, ONE = 0x3c00 };

/* The planar engine: two operands, element by element. */
static const char *planar(const mw__hwx_task *task)
{
    static const char *const names[] = {"add", "mul", "maximum", "minimum"};
    const uint32_t config = mw__hwx_task_value(task, 0x8800), operation = config >> 2 & 7, second = config >> 18 & 3;
    const bool plain = mw__hwx_task_value(task, 0x8804) == ONE << 16 && mw__hwx_task_value(task, 0x8808) == ONE << 16 &&
                       mw__hwx_task_value(task, 0x880c) == 0x3f800000 && (mw__hwx_task_value(task, 0x4800) & 0x11) == 0;
    if (!plain || (config & ~UINT32_C(0xC001C)) != 0 || second < 2 || (second == 3 && operation != 0) || operation > 3)
        return "";
    return second == 3 ? "sub" : names[operation];
}

/* What the neural engines do behind the sums. */
static const char *activation(const mw__hwx_task *task)
{
    static const char *const names[] = {"", "relu", "activation by a table", "?"};
    return names[mw__hwx_task_value(task, 0xc804) >> 16 & 3];
}

static const mw_hwx_kernel *kernel_of(const mw_hwx *hwx, size_t task)
{
    for (size_t i = 0; i < hwx->kernel_count; i++)
        if (hwx->kernels[i].public.task == task)
            return &hwx->kernels[i].public;
    return NULL;
}

/* "conv 3x3 of 8 to 8 channels, 1 to each, bias, relu" */
static void name_conv(const mw_hwx_kernel *k, uint32_t inputs, const char *then, char *out)
{
    char each[24] = "";
    if (k->extent[1] != inputs)
        snprintf(each, sizeof each, ", %u to each", k->extent[1]);
    snprintf(out, LONGEST, "conv %ux%u of %u to %u channels%s%s%s%s", k->extent[2], k->extent[3], inputs, k->extent[0],
             each, k->has_bias ? ", bias" : "", then[0] != '\0' ? ", " : "", then);
}

static void neural(const mw_hwx *hwx, size_t index, char *out)
{
    const mw__hwx_task *task = &hwx->tasks[index];
    const mw_hwx_kernel *kernel = kernel_of(hwx, index);
    const uint32_t mac = mw__hwx_task_value(task, 0xc804), behind = mac >> 16 & 3;
    const char *then = activation(task);
    if (behind == 3 || (mw__hwx_task_value(task, 0x4800) & 0x11) != 0 || mw__hwx_task_value(task, 0xc810) != ONE ||
        mw__hwx_task_value(task, 0xc80c) != 0)
        return;
    if ((mac & 0xF) == 0xC && mw__hwx_task_value(task, 0x0) == mw__hwx_task_value(task, 0x14) &&
        mw__hwx_task_value(task, 0xc) == mw__hwx_task_value(task, 0x10))
        snprintf(out, LONGEST, "%s", behind == 0 ? "copy" : then);
    else if ((mac & 0xF) == 0 && kernel != NULL && kernel->kind == MW_HWX_WEIGHTS)
        name_conv(kernel, mw__hwx_task_value(task, 0xc) & 0x1FFFF, then, out);
}

/* ---- v24 ---- */

/* A field of a register; false if the task does not write it. */
static bool read_bits(const mw__hwx_task *task, const char *name, uint32_t *out)
{
    const mw__packet_bits *bits = mw__packet_bits_named(name);
    uint32_t word;
    if (bits == NULL || !mw__hwx_task_register(task, bits->address, &word))
        return false;
    *out = mw__packet_bits_of(bits, word);
    return true;
}

/* "conv 1x8 of 256 to 256 channels, relu", the kernel as the registers have it; by the type alone where they lack. */
static void name_v24(const mw__hwx_task *task, char *out)
{
    static const char *const types[] = {"conv", "pool", "move", "elementwise", "reduction", "reduction", "reduction"};
    static const char *const behind[] = {"", ", relu", ", activation by a table", ", activation 3"};
    uint32_t type, height, width, inputs, outputs, activation = 0;
    if (!read_bits(task, "type", &type) || type >= sizeof types / sizeof *types)
        return;
    snprintf(out, LONGEST, "%s", types[type]);
    if (type != 0 || !read_bits(task, "kernel_h", &height) || !read_bits(task, "kernel_w", &width) ||
        !read_bits(task, "cin", &inputs) || !read_bits(task, "cout", &outputs))
        return;
    read_bits(task, "activation", &activation);
    snprintf(out, LONGEST, "conv %ux%u of %u to %u channels%s", height, width, inputs, outputs, behind[activation]);
}

void mw__hwx_operation(const mw_hwx *hwx, size_t index, char out[96])
{
    const mw__hwx_task *task = &hwx->tasks[index];
    out[0] = '\0';
    if (hwx->version != NULL && hwx->version->rows == MW__VERSION_ALL)
        name_v24(task, out);
    if (hwx->info.chip != MW_CHIP_H13 || task->public.word_count == 0)
        return;
    if ((task->public.words[8] >> 24 & 0xF) == 0)
        snprintf(out, LONGEST, "%s", planar(task));
    else
        neural(hwx, index, out);
}
