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
