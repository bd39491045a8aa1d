/* Values of options. */
#include "base/number/number.h"
#include "base/text/string.h"
#include "tool/meant.h"
#include "tool/tool.h"

#include <millwright/inspect.h>
#include <stdlib.h>
#include <string.h>

bool tool_parse_device(const char *text, mw_device *out)
{
    static const char *const names[] = {"auto", "cpu", "gpu", "ane"};
    static const mw_device devices[] = {MW_DEVICE_AUTO, MW_DEVICE_CPU, MW_DEVICE_GPU, MW_DEVICE_ANE};
    for (size_t i = 0; i < 4; i++) {
        if (strcmp(text, names[i]) == 0) {
            *out = devices[i];
            return true;
        }
    }
    char hint[MEANT_BYTES];
    tool_complain("--device %.60s is none of auto, cpu, gpu, ane%s", text,
                  meant_listed(hint, text, "auto, cpu, gpu, ane"));
    return false;
}

bool tool_parse_chip(const char *text, mw_chip *out)
{
    if (!mw_chip_from_name(text, out)) {
        tool_complain(
            "--chip %.60s is none of m1 to m6, a13 to a18, h11 to h19, or a die such as h16g; \"any\" is every chip",
            text);
        return false;
    }
    return true;
}

bool tool_parse_dtype(const char *text, mw_dtype *out)
{
    for (int dtype = MW_DTYPE_NONE + 1; dtype < MW_DTYPE_COUNT; dtype++) {
        if (strcmp(text, mw_dtype_name((mw_dtype)dtype)) == 0) {
            *out = (mw_dtype)dtype;
            return true;
        }
    }
    char hint[MEANT_BYTES];
    mw__spelling spelling;
    mw__spelling_init(&spelling, text);
    for (int dtype = MW_DTYPE_NONE + 1; dtype < MW_DTYPE_COUNT; dtype++)
        mw__spelling_offer(&spelling, mw_dtype_name((mw_dtype)dtype));
    tool_complain("\"%.60s\" is no element type; fp16, fp32, int32, bool .. are%s", text,
                  mw__spelling_hint(&spelling, "", hint, sizeof hint));
    return false;
}

bool tool_parse_pair(const char *option, const char *text, char *name, size_t size, const char **rest)
{
    const char *equals = strrchr(text, '='); /* names may hold one, values of these options do not */
    if (equals == NULL || equals == text || (size_t)(equals - text) >= size) {
        tool_complain("--%s %.100s is not NAME=VALUE", option, text);
        return false;
    }
    memcpy(name, text, (size_t)(equals - text));
    name[equals - text] = '\0';
    *rest = equals + 1;
    return true;
}

bool tool_parse_shape(const char *text, mw_shape *out)
{
    const char *at = text;
    *out = (mw_shape){0};
    while (*at != '\0' && out->rank < MW_RANK_MAX) {
        const size_t length = strcspn(at, ",x");
        if (!mw__number_read_i64(at, length, &out->dim[out->rank]) || out->dim[out->rank] < 0)
            break;
        out->rank++;
        at += length;
        if (*at == '\0')
            return true;
        at++;
    }
    tool_complain("\"%.100s\" is no shape such as 1,3,224,224 of at most %d extents", text, MW_RANK_MAX);
    return false;
}

void tool_json_shape(mw__json_writer *json, const char *key, mw_shape shape)
{
    mw__json_open(json, key, '[');
    for (int i = 0; i < shape.rank; i++) {
        if (shape.dim[i] == MW_DIM_UNKNOWN)
            mw__json_add_null(json, NULL);
        else
            mw__json_add_integer(json, NULL, shape.dim[i]);
    }
    mw__json_close(json, ']');
}

void tool_json_error(mw__json_writer *json, const mw_error *err)
{
    mw__json_open(json, "error", '{');
    mw__json_add_string(json, "kind", mw_status_name(err->status));
    mw__json_add_integer(json, "status", err->status);
    mw__json_add_string(json, "message", err->message);
    mw__json_add_string(json, "operation", err->operation[0] != '\0' ? err->operation : NULL);
    mw__json_add_string(json, "tensor", err->tensor[0] != '\0' ? err->tensor : NULL);
    if (err->text_line > 0) {
        mw__json_add_integer(json, "line", err->text_line);
        mw__json_add_integer(json, "column", err->text_column);
    }
    mw__json_close(json, '}');
}

bool tool_is_table(const char *path)
{
    return mw__string_ends(path, ".csv") || mw__string_ends(path, ".tsv") || mw__string_ends(path, ".jsonl") ||
           mw__string_ends(path, ".ndjson");
}
