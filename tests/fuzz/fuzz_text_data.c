/* Texts and files of tokens against any bytes: the first chooses what they are taken for. What is accepted has examples
 * that can be read, with tokens below the words, or an error that says which is not. */
#include "fuzz/replay.h"

#include <millwright/text.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char tokenizer[] =
    "{\"model\": {\"type\": \"BPE\", \"unk_token\": \"c\", \"vocab\": {\"a\": 0, \"b\": 1, \"c\": 2, \"ab\": 3}, "
    "\"merges\": [\"a b\"]}, \"added_tokens\": [{\"id\": 4, \"content\": \"<|im_start|>\", \"special\": true}, "
    "{\"id\": 5, \"content\": \"<|im_end|>\", \"special\": true}]}";

static void put_file(const char *folder, const char *name, const void *data, size_t size)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0)
        abort();
}

static void remove_files(const char *folder)
{
    static const char *const names[] = {"tokenizer.json", "a.txt", "a.jsonl", "a.bin", "a.tokens", "kept"};
    char path[128];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

static void look_at(const mw_dataset *set)
{
    mw_error err = {0};
    mw_loader_options options = mw_loader_defaults(set, 1);
    options.shuffle = false;
    mw_loader *loader = set != NULL ? mw_loader_create(&options, &err) : NULL;
    for (const mw_batch *batch; loader != NULL && (batch = mw_loader_next(loader, &err)) != NULL;)
        for (size_t column = 0; column < 2; column++)
            for (size_t i = 0; i < batch->feeds[column].count; i++) {
                const int32_t id = ((const int32_t *)batch->feeds[column].data)[i];
                if (id != -100 && (id < 0 || id >= 6))
                    abort();
            }
    mw_loader_destroy(loader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"a.txt", "a.jsonl", "a.bin", "a.tokens"};
    char folder[] = "/tmp/mw-fuzz-XXXXXX", path[128], kept[128];
    mw_error err = {0};
    if (size == 0 || mkdtemp(folder) == NULL)
        return 0;
    mw_text_data_options options = mw_text_data_defaults();
    options.tokens = 1 + data[0] / 16 % 4;
    options.padded = (data[0] & 4) != 0;
    options.whole = (data[0] & 8) != 0;
    options.chat = "chatml";
    put_file(folder, "tokenizer.json", tokenizer, sizeof tokenizer - 1);
    put_file(folder, names[data[0] % 4], data + 1, size - 1);
    snprintf(path, sizeof path, "%s/%s", folder, names[data[0] % 4]);
    snprintf(kept, sizeof kept, "%s/kept", folder);
    options.cache = kept;
    mw_text_data *made = mw_text_data_open(path, folder, &options, &err);
    if ((made != NULL) != (err.status == MW_OK) || (made == NULL && err.message[0] == '\0'))
        abort();
    look_at(mw_text_data_training(made));
    look_at(mw_text_data_validation(made));
    mw_text_data_destroy(made);
    remove_files(folder);
    return 0;
}
