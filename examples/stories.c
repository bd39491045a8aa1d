/* A small Llama from scratch, in the form of the 260K model of llama2.c (5 layers, width 64, 8 heads in groups of 2):
 *     stories FOLDER TOKENS.bin [EPOCHS]
 * FOLDER has a tokenizer; TOKENS.bin are its tokens (mw tokens FOLDER --out TOKENS.bin stories.txt, or those of
 * llama2.c). Writes FOLDER/config.json and FOLDER/model.safetensors, and a story. */
#include <millwright/text.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool write_config(const mw_text_config *c, const char *folder)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/config.json", folder);
    FILE *file = fopen(path, "w");
    if (file == NULL)
        return false;
    fprintf(file,
            "{\"model_type\": \"llama\", \"hidden_size\": %d, \"num_hidden_layers\": %d, \"num_attention_heads\": %d,\n"
            " \"num_key_value_heads\": %d, \"intermediate_size\": %d, \"vocab_size\": %d,\n"
            " \"max_position_embeddings\": %d, \"rms_norm_eps\": 1e-5, \"tie_word_embeddings\": true}\n",
            (int)c->width, (int)c->layers, (int)c->heads, (int)c->kv_heads, (int)c->hidden, (int)c->words,
            (int)c->positions);
    return fclose(file) == 0;
}

static void tell_story(mw_trainer *trainer, const char *folder, mw_error *err)
{
    mw_compile_options compile = mw_compile_defaults();
    mw_text_model_options options = mw_text_model_defaults();
    compile.share.trainer = trainer;
    options.compile = &compile;
    mw_text_model *model = mw_text_model_open(folder, &options, err);
    char *text = mw_text_model_generate(model, "Once upon a time", NULL, err);
    printf("Once upon a time%s\n", text != NULL ? text : "");
    mw_string_free(text);
    mw_text_model_destroy(model);
}

static void train(const char *folder, const char *tokens, int64_t epochs, const mw_text_config *config, mw_error *err)
{
    char path[4096];
    mw_text_data_options options = mw_text_data_defaults();
    mw_text_graph_options form = mw_text_graph_defaults();
    options.words = config->words;
    form.batch = 8;
    form.loss = true;
    mw_text_data *data = mw_text_data_open(tokens, folder, &options, err);
    mw_graph *graph = data != NULL ? mw_text_graph(config, &form, err) : NULL;
    const mw_trainer_options made = mw_trainer_defaults(mw_graph_output_at(graph, 0), mw_adamw(1e-3f, 0.1f));
    mw_trainer *trainer = graph != NULL ? mw_trainer_create(&made, err) : NULL;
    mw_fit_options fit = mw_fit_defaults(mw_text_data_training(data), epochs);
    fit.data.validation = mw_text_data_validation(data);
    snprintf(path, sizeof path, "%s/model.safetensors", folder);
    if (trainer != NULL && mw_trainer_fit(trainer, &fit, err) == MW_OK &&
        mw_trainer_save_weights(trainer, path, err) == MW_OK)
        tell_story(trainer, folder, err);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
    mw_text_data_destroy(data);
}

int main(int argc, char **argv)
{
    mw_error err = {0};
    mw_text_config c = mw_text_config_defaults("llama");
    mw_tokenizer *tokenizer = argc > 2 ? mw_tokenizer_open(argv[1], &err) : NULL;
    c.layers = 5, c.width = 64, c.heads = 8, c.kv_heads = 4, c.head_width = 8, c.hidden = 172, c.positions = 512;
    c.tied = true, c.norm_epsilon = 1e-5f, c.words = (int64_t)mw_tokenizer_get_info(tokenizer).count;
    mw_tokenizer_destroy(tokenizer);
    if (tokenizer != NULL && write_config(&c, argv[1]))
        train(argv[1], argv[2], argc > 3 ? atoll(argv[3]) : 1, &c, &err);
    if (err.status != MW_OK || argc < 3)
        fprintf(stderr, "%s\n", argc < 3 ? "usage: stories FOLDER TOKENS.bin [EPOCHS]" : err.message);
    return err.status == MW_OK && argc > 2 ? 0 : 1;
}
