/* A unit by its row. */
#include "base/text/printable.h"
#include "chip/netplist/netplist.h"

#include <stdarg.h>
#include <string.h>

static bool equal(const char *a, const char *b) { return a != NULL && b != NULL && strcmp(a, b) == 0; }

mw_tensor *mw__net_bad(mw__net_reader *r, const mw__net_unit *unit, const char *format, ...)
{
    char text[200];
    va_list arguments;
    va_start(arguments, format);
    mw__printable_vprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    mw__fail(r->err, MW_ERROR_FORMAT, "unit \"%.96s\" (%.40s): %s", unit->name, unit->type, text);
    return NULL;
}

mw_tensor *mw__net_read_unit(mw__net_reader *r, const mw__net_unit *unit)
{
    const char *kind = mw__net_string(unit->params, "Type");
    for (size_t i = 0; i < mw__net_row_count; i++) {
        const mw__net_row *row = &mw__net_rows[i];
        if (!equal(row->type, unit->type) || (row->kind != NULL && !equal(kind, row->kind)))
            continue;
        if (row->read == NULL) {
            mw__net_cannot_read(r, unit, row->why);
            return NULL;
        }
        if (unit->bottom_count == 0)
            return mw__net_bad(r, unit, "it has no Bottom");
        return row->read(r, unit, row);
    }
    mw__net_cannot_read(r, unit, "there is no such type in the table");
    return NULL;
}
