/* The check of ONNX files as users see it; the core has it for what it writes (format/onnx/check). */
#include "base/text/error.h"
#include "format/formats.h"

#include <millwright/onnx_check.h>

mw_status mw_onnx_check(const char *path, mw_error *err)
{
    return mw__skips(err) ? err->status : mw__onnx_check_file(path, err);
}
