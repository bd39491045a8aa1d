/* The table of operators (operators.def), and looking one up. */
#include "format/onnx/read/import.h"

#include <string.h>

const mw__onnx_row mw__onnx_rows[] = {
#define MW_ONNX(name, since, until, inputs, function, attributes)                                                      \
    {#name, since, until, attributes, inputs, mw__onnx_##function},
#include "format/onnx/read/operators.def"
#undef MW_ONNX
};
const size_t mw__onnx_row_count = sizeof mw__onnx_rows / sizeof *mw__onnx_rows;

const mw__onnx_row *mw__onnx_row_find(const char *name, int64_t opset, const mw__onnx_row **out_other)
{
    *out_other = NULL;
    for (size_t i = 0; i < mw__onnx_row_count; i++) {
        const mw__onnx_row *row = &mw__onnx_rows[i];
        if (strcmp(row->name, name) != 0)
            continue;
        if (opset >= row->since && opset <= row->until)
            return row;
        *out_other = row;
    }
    return NULL;
}
