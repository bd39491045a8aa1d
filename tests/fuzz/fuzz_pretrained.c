/* The readers of networks and vocabularies in single files against any bytes: GGUF, llama2.c, llm.c. What is accepted
 * has weights of the sizes that its configuration says, which are read, and tokens that come back. And what stands
 * beside an encoder's weights, which begins with a bracket. */
#include "fuzz/replay.h"
#include "text/pretrained/save.h"

#include <millwright/text.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ_MOST = 1 << 20, LOOKED_AT = 64 };

/* A new file with these bytes; GGUF is known by its name, too. */
static char *put_bytes(const uint8_t *data, size_t size, bool gguf)
{
    static char path[40];
    strcpy(path, gguf ? "/tmp/mw-fuzz-XXXXXX.gguf" : "/tmp/mw-fuzz-XXXXXX.bin");
    const int descriptor = mkstemps(path, gguf ? 5 : 4);
    if (descriptor < 0 || write(descriptor, data, size) != (ssize_t)size)
        abort();
    close(descriptor);
    return path;
}

static void read_weight(mw__pretrained *p, size_t i)
{
    const int64_t count = mw_shape_count(p->weights[i].shape);
    mw_error err = {0};
    if (count < 0)
        abort();
    if (count > READ_MOST)
        return;
    float *data = malloc((size_t)count * sizeof *data + 1);
    const mw_status status = data != NULL ? mw__pretrained_read(p, i, data, &err) : MW_OK;
    if (status != err.status)
        abort();
    free(data);
}

static void read_network(const char *path, size_t size)
{
    mw__pretrained p;
    mw_error err = {0};
    const mw_status status = mw__pretrained_open(&p, path, &err);
    if (status != err.status || (status == MW_OK && (p.count == 0 || p.config.layers > (int64_t)size)))
        abort();
    for (size_t i = 0; status == MW_OK && i < p.count && i < LOOKED_AT; i++)
        read_weight(&p, i);
    mw__pretrained_deinit(&p);
}

/* What is written as tokenizer.json is read again. */
static void write_vocabulary(const mw_tokenizer *t)
{
    static char path[40];
    mw_error err = {0};
    strcpy(path, "/tmp/mw-fuzz-XXXXXX.json");
    const int descriptor = mkstemps(path, 5);
    if (descriptor < 0)
        abort();
    close(descriptor);
    if (mw__saving_tokenizer_json(t, path, &err) == MW_OK) {
        mw_tokenizer *again = mw_tokenizer_open(path, &err);
        if (again == NULL)
            abort();
        mw_tokenizer_destroy(again);
    }
    unlink(path);
}

static void read_vocabulary(const char *path)
{
    static const char text[] = "Ab 12\n\xc3\xa9 <s>\xff";
    mw_error err = {0};
    mw_tokens tokens = {0};
    mw_tokenizer *t = mw_tokenizer_open(path, &err);
    if ((t == NULL) != (err.status != MW_OK))
        abort();
    if (t != NULL && mw_tokenizer_encode(t, text, sizeof text - 1, NULL, &tokens, &err) == MW_OK) {
        char *back = mw_tokenizer_decode(t, tokens.ids, tokens.count, true, NULL, &err);
        if (back == NULL) /* every token that is given is one */
            abort();
        mw_string_free(back);
    }
    mw_tokens_destroy(&tokens);
    if (t != NULL)
        write_vocabulary(t);
    mw_tokenizer_destroy(t);
}

/* ---- what stands beside an encoder ---- */

static void put_file(const char *folder, const char *name, const uint8_t *data, size_t size)
{
    char path[80];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0)
        abort();
}

/* modules.json up to the first NUL, 1_Pooling/config.json behind it, and the length of texts by the same bytes. */
static void read_sentence(const uint8_t *data, size_t size)
{
    static const char *const files[] = {"1_Pooling/config.json", "modules.json", "sentence_bert_config.json"};
    char folder[] = "/tmp/mw-fuzz-XXXXXX", path[80];
    const uint8_t *end = memchr(data, '\0', size);
    const size_t first = end != NULL ? (size_t)(end - data) : size, rest = end != NULL ? size - first - 1 : 0;
    if (mkdtemp(folder) == NULL)
        abort();
    snprintf(path, sizeof path, "%s/1_Pooling", folder);
    if (mkdir(path, 0700) != 0)
        abort();
    put_file(folder, files[0], data + size - rest, rest);
    put_file(folder, files[1], data, first);
    put_file(folder, files[2], data + size - rest, rest);
    mw__pretrained p = {.path = folder, .form = &mw__pretrained_folder};
    mw__pretrained_sentence sentence;
    mw_error err = {0};
    if (mw__pretrained_read_sentence(&p, &sentence, &err) != err.status ||
        (err.status == MW_OK && (sentence.most < 0 || sentence.pooling == MW_POOLING_OF_FOLDER)))
        abort();
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        unlink(path);
    }
    snprintf(path, sizeof path, "%s/1_Pooling", folder);
    if (rmdir(path) != 0 || rmdir(folder) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 0 && (data[0] == '[' || data[0] == '{')) {
        read_sentence(data, size);
        return 0;
    }
    const bool gguf = size >= 4 && memcmp(data, "GGUF", 4) == 0;
    const char *path = put_bytes(data, size, gguf);
    read_network(path, size);
    if (gguf)
        read_vocabulary(path);
    unlink(path);
    return 0;
}
