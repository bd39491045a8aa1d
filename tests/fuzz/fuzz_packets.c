/* Words of tasks against any words: the first byte is the version. What is accepted is shown, and comes back. */
#include "fuzz/replay.h"

#include <millwright/graph.h>
#include <millwright/hwx.h>
#include <stdlib.h>
#include <string.h>

static void check_words(const mw_hwx *hwx, const uint8_t *bytes, size_t size)
{
    mw_error err = {0};
    void *out = NULL;
    size_t out_size = 0;
    if (mw_hwx_write_memory(hwx, &out, &out_size, &err) != MW_OK || out_size != size || memcmp(out, bytes, size) != 0)
        abort();
    mw_string_free(out);
    char *text = mw_hwx_text(hwx, &err), *json = mw_hwx_json(hwx, &err);
    if (text == NULL || json == NULL || strlen(text) > 64 * size + 65536 || strlen(json) > 64 * size + 65536)
        abort();
    mw_string_free(text);
    mw_string_free(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const size_t count = size > 0 ? (size - 1) / 4 : 0;
    mw_error err = {0};
    uint32_t *words = malloc((count + 1) * sizeof *words);
    if (words == NULL)
        abort();
    for (size_t i = 0; i < count; i++) {
        const uint8_t *at = data + 1 + 4 * i;
        words[i] = (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
    }
    mw_hwx *hwx = mw_hwx_parse_words(words, count, size > 0 ? data[0] : 0, NULL, &err);
    if ((hwx == NULL) != (err.status != MW_OK))
        abort();
    if (hwx != NULL)
        check_words(hwx, data + 1, 4 * count);
    mw_hwx_destroy(hwx);
    free(words);
    return 0;
}
