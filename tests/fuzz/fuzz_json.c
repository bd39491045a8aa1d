/* The JSON reader against any bytes: it answers or refuses, with a position, and every text it hands out is terminated.
 */
#include "base/text/json.h"
#include "fuzz/replay.h"

#include <stdlib.h>
#include <string.h>

static mw_status check_item(void *user, const mw__json_item *item, mw_error *err)
{
    size_t *items = user;
    (void)err;
    *items += 1;
    if (item->text != NULL && item->text[item->length] != '\0')
        abort();
    return MW_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mw_error err = {0};
    size_t items = 0;
    const mw_status status = mw__json_read(NULL, (const char *)data, size, check_item, &items, &err);
    if (status != err.status || (status == MW_OK && items == 0))
        abort();
    mw_error other = {0};
    const mw_status all = mw__json_read_all(NULL, (const char *)data, size, check_item, &items, &other);
    if (all != other.status || (status == MW_OK && all != MW_OK)) /* the subset is a subset */
        abort();
    return 0;
}
