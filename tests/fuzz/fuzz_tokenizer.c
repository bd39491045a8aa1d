/* The readers of tokenizers and configurations against any bytes: the first says which. What is accepted cuts and joins
 * texts without a fault, within its own numbers. */
#include "fuzz/replay.h"
#include "text/tokenizer/tokenizer.h"

#include <millwright/text_model.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What the file itself spells, and what tokenizers treat apart. */
static const char texts[] = "<s>Hello  wor\xc3\xa9ld's 1234 \xe4\xb8\xad\xe6\x96\x87\n\n\t\xff\xf0\x9f\x98\x80 </s>";

static void use_tokenizer(const mw_tokenizer *t, const char *text, size_t size)
{
    mw_error err = {0};
    mw_tokens tokens = {0};
    const size_t most = mw_tokenizer_get_info(t).count;
    if (mw_tokenizer_encode(t, text, size, NULL, &tokens, &err) != err.status)
        abort();
    for (size_t i = 0; i < tokens.count; i++)
        if (tokens.ids[i] < 0 || (size_t)tokens.ids[i] >= most || tokens.begin[i] > tokens.end[i] ||
            tokens.end[i] > size)
            abort();
    char *back = err.status == MW_OK ? mw_tokenizer_decode(t, tokens.ids, tokens.count, true, NULL, &err) : NULL;
    mw_string_free(back);
    mw_tokens_destroy(&tokens);
}

/* vocab.json up to the first NUL, merges.txt behind it. */
static mw_tokenizer *read_pair(const char *data, size_t size, mw_error *err)
{
    const char *end = memchr(data, '\0', size);
    const size_t first = end != NULL ? (size_t)(end - data) : size;
    return mw__read_vocabulary_and_merges(data, first, data + first + (end != NULL), size - first - (end != NULL), err);
}

static void read_config(const char *data, size_t size)
{
    static char path[] = "/tmp/mw-fuzz-XXXXXX";
    memcpy(path + sizeof path - 7, "XXXXXX", 6);
    const int descriptor = mkstemp(path);
    mw_error err = {0};
    mw_text_config config;
    if (descriptor < 0 || write(descriptor, data, size) != (ssize_t)size)
        abort();
    close(descriptor);
    if (mw_text_config_read(path, &config, &err) == MW_OK && config.words * config.width < 1 << 20 &&
        config.layers < 4 && config.hidden * config.width < 1 << 20 && config.positions >= 4) {
        mw_text_graph_options options = mw_text_graph_defaults();
        options.tokens = 4;
        mw_graph_destroy(mw_text_graph(&config, &options, &err));
    }
    unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    typedef mw_tokenizer *reader(const char *text, size_t size, mw_error *err);
    static reader *const readers[] = {mw__read_tokenizer_json, mw__read_sentencepiece, mw__read_llama2c, read_pair,
                                      mw__read_lines};
    enum { READERS = sizeof readers / sizeof *readers };
    if (size < 1)
        return 0;
    /* a NUL behind it, as behind what is read from a file */
    char *text = calloc(size, 1);
    memcpy(text, data + 1, size - 1);
    const unsigned which = data[0] % (READERS + 1);
    mw_error err = {0};
    mw_tokenizer *t = which < READERS ? readers[which](text, size - 1, &err) : NULL;
    if (which == READERS)
        read_config(text, size - 1);
    else if ((t == NULL) != (err.status != MW_OK))
        abort();
    if (t != NULL) {
        use_tokenizer(t, texts, sizeof texts - 1);
        use_tokenizer(t, text, size - 1 < 4096 ? size - 1 : 4096);
    }
    mw_tokenizer_destroy(t);
    free(text);
    return 0;
}
