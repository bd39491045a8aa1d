/* Teaches a language model answers, by adapters of rank 8 beside its query and value weights:
 *     chat_lora SmolLM2-135M-Instruct talks.jsonl tuned [EPOCHS]
 * A line of talks.jsonl is {"messages": [{"role": "user", "content": ".."}, {"role": "assistant", "content": ".."}]}.
 * The answers alone are learned. `tuned` gets the adapters, merged; tuned-adapter gets them alone, as PEFT has them. */
#include <millwright/text.h>
#include <stdio.h>
#include <stdlib.h>

static mw_trainer *make_trainer(const mw_text_config *config, int64_t tokens, const mw_text_tuning *tuning,
                                mw_error *err)
{
    mw_text_graph_options form = mw_text_graph_defaults();
    form.tokens = tokens;
    form.loss = true;
    form.tuning = *tuning;
    mw_graph *graph = mw_text_graph(config, &form, err);
    const mw_trainer_options options = mw_trainer_defaults(mw_graph_output_at(graph, 0), mw_adam(2e-4f));
    mw_trainer *trainer = graph != NULL ? mw_trainer_create(&options, err) : NULL;
    mw_graph_destroy(graph);
    return trainer;
}

static void save(mw_trainer *trainer, const char *folder, const char *out, mw_error *err)
{
    char adapter[4096];
    snprintf(adapter, sizeof adapter, "%s-adapter", out);
    if (mw_text_save_trained(trainer, folder, out, NULL, err) == MW_OK &&
        mw_trainer_save_lora(trainer, adapter, err) == MW_OK)
        printf("%s and %s are written\n", out, adapter);
}

static void teach(const char *folder, const char *talks, const char *out, int64_t epochs, mw_error *err)
{
    mw_text_config config;
    const mw_text_tuning tuning = {.rank = 8};
    if (mw_text_config_read(folder, &config, err) != MW_OK)
        return;
    mw_text_data_options options = mw_text_data_defaults();
    options.tokens = config.positions < 512 ? config.positions : 512;
    options.padded = true; /* a conversation is an example */
    options.validation = 0.0;
    mw_text_data *data = mw_text_data_open(talks, folder, &options, err);
    mw_trainer *trainer = data != NULL ? make_trainer(&config, options.tokens, &tuning, err) : NULL;
    mw_fit_options fit = mw_fit_defaults(mw_text_data_training(data), epochs);
    if (trainer != NULL && mw_text_load_weights(trainer, folder, err) == MW_OK &&
        mw_trainer_fit(trainer, &fit, err) == MW_OK)
        save(trainer, folder, out, err);
    mw_trainer_destroy(trainer);
    mw_text_data_destroy(data);
}

int main(int argc, char **argv)
{
    mw_error err = {0};
    if (argc < 4) {
        fprintf(stderr, "usage: %s FOLDER TALKS.jsonl OUT [EPOCHS]\n", argv[0]);
        return 2;
    }
    teach(argv[1], argv[2], argv[3], argc > 4 ? atoll(argv[4]) : 3, &err);
    if (err.status != MW_OK)
        fprintf(stderr, "%s: %s\n", argv[0], err.message);
    return err.status == MW_OK ? 0 : 1;
}
