/* The reader of compiled programs against any bytes: what is accepted is shown, and comes back byte for byte; its
 * weights can be read and put back. */
#include "fuzz/replay.h"

#include <millwright/graph.h>
#include <millwright/hwx.h>
#include <stdlib.h>
#include <string.h>

enum { WEIGHTS_MOST = 1 << 20 };

static void check_bytes(const mw_hwx *hwx, const uint8_t *data, size_t size)
{
    mw_error err = {0};
    void *out = NULL;
    size_t out_size = 0;
    if (mw_hwx_write_memory(hwx, &out, &out_size, &err) != MW_OK || out_size != size || memcmp(out, data, size) != 0)
        abort();
    mw_string_free(out);
}

static void put_back(mw_hwx *hwx, size_t index, const mw_hwx_kernel *kernel)
{
    const size_t count = (size_t)kernel->extent[0] * kernel->extent[1] * kernel->extent[2] * kernel->extent[3];
    if (count > WEIGHTS_MOST)
        return;
    mw_error err = {0};
    uint16_t *weights = malloc((count + kernel->extent[0]) * sizeof *weights);
    uint16_t *bias = kernel->has_bias ? weights + count : NULL;
    if (mw_hwx_get_weights(hwx, index, weights, count, bias, &err) != MW_OK ||
        mw_hwx_set_weights(hwx, index, weights, count, bias, &err) != MW_OK)
        abort();
    free(weights);
}

static void convert(const mw_hwx *hwx)
{
    mw_error err = {0};
    void *out = NULL;
    size_t size = 0;
    if ((mw_hwx_write_ane(hwx, NULL, &out, &size, &err) == MW_OK) != (out != NULL))
        abort();
    mw_string_free(out);
    out = NULL;
    mw_error_clear(&err);
    if ((mw_hwx_write_container(hwx, &out, &size, &err) == MW_OK) != (out != NULL))
        abort();
    mw_string_free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mw_error err = {0};
    mw_hwx *hwx = mw_hwx_parse(data, size, NULL, &err);
    if ((hwx == NULL) != (err.status != MW_OK))
        abort();
    if (hwx == NULL)
        return 0;
    check_bytes(hwx, data, size);
    for (size_t i = 0; mw_hwx_kernel_at(hwx, i) != NULL; i++)
        if (mw_hwx_kernel_at(hwx, i)->kind == MW_HWX_WEIGHTS)
            put_back(hwx, i, mw_hwx_kernel_at(hwx, i));
    check_bytes(hwx, data, size);
    char *text = mw_hwx_text(hwx, &err), *json = mw_hwx_json(hwx, &err);
    if (text == NULL || json == NULL)
        abort();
    mw_string_free(text);
    mw_string_free(json);
    convert(hwx);
    mw_hwx_destroy(hwx);
    return 0;
}
