/* Options of learning a vocabulary, and of saving a language model. */
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

void make_text_save(world *w, void *out)
{
    (void)w;
    *(mw_text_save_options *)out = mw_text_save_defaults();
}

bool use_text_save(world *w, const void *options)
{
    char path[] = "/tmp/mw_options_XXXXXX.bin";
    const int descriptor = mkstemps(path, 4);
    if (descriptor < 0)
        return false;
    close(descriptor);
    const bool taken = mw_text_save(MW_TESTS_DIR "/text/files/stories_v1.bin", path, options, &w->err) == MW_OK;
    unlink(path);
    return taken;
}
