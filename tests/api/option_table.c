/* Options of tables. */
#include "option_world.h"

#include <millwright/data.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void make_table_fit(world *w, void *out)
{
    (void)w;
    *(mw_table_fit_options *)out = mw_table_fit_defaults("table.csv", "y");
}

/* The path leads to a table of two fields, unless the options have none. */
bool use_table_fit(world *w, const void *options)
{
    char path[] = "/tmp/mw-options-XXXXXX";
    static const char table[] = "a,y\n1,n\n,y\n2,n\n";
    mw_table_fit_options given;
    memcpy(&given, options, sizeof given);
    const int descriptor = mkstemp(path);
    if (descriptor < 0 || write(descriptor, table, sizeof table - 1) < 0)
        return false;
    close(descriptor);
    given.path = given.path != NULL ? path : NULL;
    mw_table_encoder *encoder = mw_table_encoder_fit(&given, NULL, NULL, &w->err);
    mw_table_encoder_destroy(encoder);
    remove(path);
    return encoder != NULL;
}

static mw_status take_rows(void *user, const mw_table_rows *rows, mw_error *err)
{
    (void)err;
    *(int64_t *)user += rows->count;
    return MW_OK;
}

static int64_t rows_taken;

void make_table_stream(world *w, void *out)
{
    (void)w;
    *(mw_table_stream_options *)out = mw_table_stream_defaults("table.csv", take_rows, &rows_taken);
}

bool use_table_stream(world *w, const void *options)
{
    char path[] = "/tmp/mw-options-XXXXXX";
    mw_table_stream_options given;
    memcpy(&given, options, sizeof given);
    const int descriptor = mkstemp(path);
    if (descriptor < 0 || write(descriptor, "a\n1\n", 4) < 0)
        return false;
    close(descriptor);
    given.path = given.path != NULL ? path : NULL;
    mw_table_encoder *encoder =
        mw_table_encoder_read("{\"version\": 1, \"target\": {\"name\": \"y\", \"kind\": \"value\"}, "
                              "\"fields\": [{\"name\": \"a\", \"kind\": \"number\"}]}",
                              &w->err);
    rows_taken = 0;
    const mw_status status = mw_table_encoder_stream(encoder, &given, &w->err);
    mw_table_encoder_destroy(encoder);
    remove(path);
    return status == MW_OK && rows_taken == 1;
}
