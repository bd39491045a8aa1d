/* JSON that is written piece by piece, each value with its key (NULL in arrays). Numbers that JSON lacks, NaN and the
 * infinities, are null. Errors stick; tool_json_text is then NULL. */
#ifndef MW__TOOL_SHOW_JSON_H
#define MW__TOOL_SHOW_JSON_H

#include "base/text/text.h"

#include <millwright/types.h>

typedef struct tool_json {
    mw__text text;
    bool separate; /* a value stands before the next one */
} tool_json;

void tool_json_init(tool_json *json);
void tool_json_deinit(tool_json *json);
const char *tool_json_text(const tool_json *json);

void tool_json_open(tool_json *json, const char *key, char bracket);
void tool_json_close(tool_json *json, char bracket);
void tool_json_string(tool_json *json, const char *key, const char *value); /* NULL is null */
void tool_json_integer(tool_json *json, const char *key, int64_t value);
void tool_json_number(tool_json *json, const char *key, double value);
void tool_json_bool(tool_json *json, const char *key, bool value);
void tool_json_null(tool_json *json, const char *key);
void tool_json_shape(tool_json *json, const char *key, mw_shape shape); /* null for an extent that is not known */
/* A value that is JSON already. */
void tool_json_raw(tool_json *json, const char *key, const char *value);

#endif
