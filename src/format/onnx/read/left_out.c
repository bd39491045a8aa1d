/* The bytes of a model's message: of a large file without its large weights, which stay there and are named by where
 * they lie. */
#include "base/text/text.h"
#include "format/onnx/read/literal.h"
#include "format/protobuf/outline.h"
#include "graph/constants/shared_payload.h"

#include <stdio.h>
#include <string.h>

/* protobuf has files of 2 GiB at most. */
#define FILE_MAX ((size_t)1 << 31)

/* Files from that size on are read without their large weights. */
enum { OUTLINE_LEAST = 1 << 20 };
/* Tensor.raw_data, and float_data and double_data, which are the same bytes where they are packed. */
#define LEFT_OUT "\x09\x04\x0a"

/* Of a tensor whose bytes were left out. */
static void put_place(mw__text *out, uint32_t number, uint64_t offset, uint64_t size)
{
    char value[64];
    mw__text inner = {.allocator = out->allocator};
    const int length = snprintf(value, sizeof value, "%u %llu %llu", (unsigned)number, (unsigned long long)offset,
                                (unsigned long long)size);
    mw__outline_put_bytes(&inner, 1, MW__ONNX_LEFT_OUT_KEY, strlen(MW__ONNX_LEFT_OUT_KEY));
    mw__outline_put_bytes(&inner, 2, value, (size_t)length);
    out->failed = out->failed || inner.failed;
    if (!out->failed)
        mw__outline_put_bytes(out, 13, inner.data, inner.size);
    mw__text_deinit(&inner);
    mw__outline_put_number(out, 14, MW__ONNX_LEFT_OUT);
}

/* The model without its large weights; false where it has to be read as a whole. */
static bool read_outline(const mw__file *file, const char *path, mw__text *out, mw_error *err)
{
    const mw__outline_rule rule = {&mw__onnx__tensor__descriptor, LEFT_OUT, MW__SHARED_PAYLOAD_LEAST, 14, put_place};
    return file->size >= OUTLINE_LEAST && file->size <= FILE_MAX &&
           mw__outline_read(file, path, &mw__onnx__model__descriptor, &rule, out, err);
}

mw_status mw__onnx_message_bytes(const mw_allocator *allocator, const mw__file *file, const char *path, char **out,
                                 size_t *out_size, bool *out_outline, mw_error *err)
{
    mw__text outline;
    mw_error why = {0};
    mw__text_init(&outline, allocator);
    *out_outline = read_outline(file, path, &outline, &why);
    if (*out_outline) {
        *out = outline.data; /* an ordinary block */
        *out_size = outline.size;
        return MW_OK;
    }
    mw__text_deinit(&outline);
    *out_size = (size_t)file->size;
    return mw__file_read_open(allocator, file, path, FILE_MAX, out, err);
}
