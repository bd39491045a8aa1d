/* The reader of E5 descriptors against any bytes: what it understands whole is written and read again the same. */
#include "fuzz/replay.h"

#include <millwright/chip_all.h>
#include <millwright/millwright.h>
#include <stdlib.h>
#include <string.h>

static void write_again(const mw_e5 *e5)
{
    mw_error err = {0};
    size_t size = 0, again_size = 0;
    char *bytes = mw_e5_bytes(e5, &size, &err);
    if (bytes == NULL)
        abort();
    mw_e5 *read = mw_e5_parse(bytes, size, NULL, &err);
    char *again = read != NULL ? mw_e5_bytes(read, &again_size, &err) : NULL;
    if (again == NULL || again_size != size || memcmp(again, bytes, size) != 0)
        abort();
    mw_string_free(bytes);
    mw_string_free(again);
    mw_e5_destroy(read);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mw_error err = {0}, more = {0};
    mw_e5 *e5 = mw_e5_parse(data, size, NULL, &err);
    if ((e5 == NULL) != (err.status != MW_OK))
        abort();
    if (e5 == NULL)
        return 0;
    char *text = mw_e5_text(e5, &more), *json = mw_e5_json(e5, &more);
    if (text == NULL || json == NULL)
        abort();
    mw_string_free(text);
    mw_string_free(json);
    if (mw_e5_program_of(e5)->note_count == 0)
        write_again(e5);
    mw_e5_destroy(e5);
    return 0;
}
