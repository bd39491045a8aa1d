/* Options of texts. */
#include "option_world.h"

#include <millwright/text.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static mw_text_config some_config(void)
{
    mw_text_config config = {0};
    mw_error err = {0};
    mw_text_config_read(MW_TESTS_DIR "/text/models/llama", &config, &err);
    return config;
}

void make_encode(world *w, void *out)
{
    (void)w;
    *(mw_encode_options *)out = mw_encode_defaults();
}

void make_text_config(world *w, void *out)
{
    (void)w;
    *(mw_text_config *)out = some_config();
}

void make_text_graph(world *w, void *out)
{
    (void)w;
    *(mw_text_graph_options *)out = mw_text_graph_defaults();
}

void make_text_model(world *w, void *out)
{
    (void)w;
    *(mw_text_model_options *)out = mw_text_model_defaults();
}

void make_generate(world *w, void *out)
{
    (void)w;
    *(mw_generate_options *)out = mw_generate_defaults();
}

void make_embed(world *w, void *out)
{
    (void)w;
    *(mw_embed_options *)out = mw_embed_defaults();
}

bool use_embed(world *w, const void *options)
{
    float out[16];
    mw_text_model *model = mw_text_model_open(MW_TESTS_DIR "/text/models/minilm", NULL, &w->err);
    mw_text_model_embed(model, (const char *const[]){"abc"}, 1, options, out, &w->err);
    mw_text_model_destroy(model);
    return w->err.status == MW_OK;
}

bool use_encode(world *w, const void *options)
{
    mw_tokens tokens = {0};
    mw_tokenizer *t = mw_tokenizer_open(MW_TESTS_DIR "/text/models/llama/tokenizer.json", &w->err);
    const bool taken = mw_tokenizer_encode(t, "abc", 3, options, &tokens, &w->err) == MW_OK;
    mw_tokens_destroy(&tokens);
    mw_tokenizer_destroy(t);
    return taken;
}

bool use_text_config(world *w, const void *options)
{
    mw_text_graph_options form = mw_text_graph_defaults();
    form.tokens = 4;
    mw_graph *graph = mw_text_graph(options, &form, &w->err);
    mw_graph_destroy(graph);
    return graph != NULL;
}

bool use_text_graph(world *w, const void *options)
{
    mw_text_config config = some_config();
    config.positions = 128; /* those of the defaults */
    mw_graph *graph = mw_text_graph(&config, options, &w->err);
    mw_graph_destroy(graph);
    return graph != NULL;
}

bool use_text_model(world *w, const void *options)
{
    mw_text_model *model = mw_text_model_open(MW_TESTS_DIR "/text/models/llama", options, &w->err);
    mw_text_model_destroy(model);
    return model != NULL;
}

bool use_generate(world *w, const void *options)
{
    mw_text_model *model = mw_text_model_open(MW_TESTS_DIR "/text/models/llama", NULL, &w->err);
    mw_string_free(mw_text_model_generate(model, "abc", options, &w->err));
    mw_text_model_destroy(model);
    return w->err.status == MW_OK;
}

void make_text_data(world *w, void *out)
{
    (void)w;
    *(mw_text_data_options *)out = mw_text_data_defaults();
    ((mw_text_data_options *)out)->tokens = 2;
    ((mw_text_data_options *)out)->words = 65536;
}

bool use_text_data(world *w, const void *options)
{
    char folder[] = "/tmp/mw-options-XXXXXX", path[64];
    if (mkdtemp(folder) == NULL)
        return false;
    snprintf(path, sizeof path, "%s/train.bin", folder);
    FILE *file = fopen(path, "wb");
    if (file != NULL) {
        fputs("a_b_c_d_e_", file); /* five tokens of 16 bits */
        fclose(file);
    }
    mw_text_data *data = mw_text_data_open(path, NULL, options, &w->err);
    mw_text_data_destroy(data);
    remove(path);
    rmdir(folder);
    return data != NULL;
}

void make_text_save(world *w, void *out)
{
    (void)w;
    *(mw_text_save_options *)out = mw_text_save_defaults();
}

bool use_text_save(world *w, const void *options)
{
    char path[] = "/tmp/mw-options-XXXXXX.bin";
    const int descriptor = mkstemps(path, 4);
    if (descriptor < 0)
        return false;
    close(descriptor);
    const mw_status status = mw_text_save(MW_TESTS_DIR "/text/files/stories_v1.bin", path, options, &w->err);
    remove(path);
    return status == MW_OK;
}
