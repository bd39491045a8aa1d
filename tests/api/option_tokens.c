/* Options of learning a vocabulary. */
#include "option_world.h"

#include <millwright/text.h>
#include <stdlib.h>
#include <unistd.h>

void make_train_tokens(world *w, void *out)
{
    (void)w;
    *(mw_tokenizer_train_options *)out = mw_tokenizer_train_defaults();
}

bool use_train_tokens(world *w, const void *options)
{
    char path[] = "/tmp/mw_options_XXXXXX";
    const int descriptor = mkstemp(path);
    if (descriptor < 0)
        return false;
    close(descriptor);
    const bool taken = mw_tokenizer_train("abcabc", 6, options, path, &w->err) == MW_OK;
    unlink(path);
    return taken;
}
