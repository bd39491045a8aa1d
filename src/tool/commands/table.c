/* The commands. Help, man page and completions are made from these rows and the tables of options. */
#include "tool/commands/commands.h"

#include <string.h>

const tool_command tool_commands[] = {
    {"info", "FILE", 1, 1, "what is in a model, or a file of tensors",
     "Prints inputs, outputs, layers and sums of a model: a Core ML package (.mlpackage) or compiled model "
     "(.mlmodelc), "
     "MIL text or a folder with model.mil, an ONNX file, a netplist (.espresso.net). A layer is one line, however many "
     "operations it is made of. A file of tensors is listed as by mw tensors.",
     tool_info_options, tool_info},
    {"ops", "[PATTERN]", 0, 1, "the operations that the library knows",
     "Lists operations with the operator set that they are of, whether they have a gradient, and their arguments; "
     "optional ones in brackets. PATTERN is one of a shell: mw ops 'conv*'.",
     NULL, tool_ops},
    {"tensors", "FILE", 1, 1, "the tensors of a file of weights",
     "Lists safetensors (one file, shards by their index, or the folder), PyTorch files, .npy, .npz and GGUF.",
     tool_tensors_options, tool_tensors},
    {"tokens", "TOKENIZER [TEXT..]", 1, -1, "a text as tokens, and back",
     "TOKENIZER is a tokenizer.json, vocab.json with merges.txt beside it, tokenizer.model of SentencePiece, vocab.txt "
     "of BERT, tokenizer.bin of "
     "llama2.c, "
     "or a folder with one of them. Prints the number of each token, which bytes of the text it stands for, and its "
     "own "
     "text; without TEXT what the tokenizer is. --decode goes back.\n\n"
     "With --train all arguments are files of text: byte pairs are learned from them and written to --out, a "
     "tokenizer.json. With --out alone the TEXTs are files (plain text, or .jsonl with \"text\" or \"messages\"), and "
     "their tokens become one file that mw finetune --text reads, and others do.",
     tool_tokens_options, tool_tokens},
    {"generate", "MODEL", 1, 1, "a language model goes on with a text",
     "MODEL is a folder with config.json, weights and a tokenizer, as Hugging Face gives models out: gpt2, llama, "
     "mistral, "
     "qwen2, qwen3, gemma2; or a .gguf of these; or a .bin of llama2.c or llm.c beside its tokenizer. The text is "
     "printed as it comes; Ctrl-C ends it. The same --seed gives the same text.",
     tool_generate_options, tool_generate},
    {"embed", "MODEL [TEXT..]", 1, -1, "texts as vectors, and the nearest ones",
     "MODEL is an encoder of the form of BERT: a folder with config.json, weights and a tokenizer, such as those of "
     "sentence-transformers (MiniLM), or a .gguf. Prints the vector of each TEXT, and of each line of --file that "
     "holds "
     "something; or writes them to --out. With --query it prints the texts that are nearest to it, with the cosine of "
     "the vectors.",
     tool_embed_options, tool_embed},
    {"convert", "IN OUT", 2, 2, "a model or a file of tensors in another format",
     "Models: any that mw info reads, into .mlpackage, .onnx, .espresso.net, or else a folder with model.mil and "
     "weights. With --weights they are stored in less: fp16, int8 or a palette.\n\n"
     "Tensors: any that mw tensors reads, into .safetensors, .npz or .npy; --weights is then an element type, fp16 or "
     "fp32.\n\n"
     "Language models: a folder as Hugging Face gives them out, a .gguf, or a .bin of llama2.c or llm.c, into .gguf, "
     ".bin "
     "(llama2.c), or else a folder; --trained merges what was trained. docs/text.md has the details.\n\n"
     "What is at OUT is replaced as a whole or not at all. --verify runs both models on the same inputs; exit code 3 "
     "says that they differ.",
     tool_convert_options, tool_convert},
    {"average", "FILE..", 1, -1, "the mean of weights that were trained apart",
     "Writes the mean of the tensors of several files, which have the same names and shapes.", tool_average_options,
     tool_average},
    {"run", "FILE", 1, 1, "a model on given or drawn inputs",
     "Runs a model on any number of examples: those of the files that --input names, with examples along their first "
     "axis (.npy; or NAME=FILE:TENSOR of any file of tensors), rows of a table (x=people.csv, for a model that mw "
     "train "
     "learned from one), a number for all elements (x=0.5), or numbers that are "
     "drawn. Prints what came out, with labels if the model is a classifier; --out keeps all of it.",
     tool_run_options, tool_run_model},
    {"predict", "MODEL DATA", 2, 2, "what a model makes of a table, of pictures, of any data it was made for",
     "DATA is as raw as for the training: a table (.csv, .tsv, .jsonl), a picture, a folder of pictures, a folder with "
     "a folder for each class, the MNIST family, or a file of tensors. MODEL is any that mw info reads, or the folder "
     "of a run. How the data becomes the input is in the metadata that mw train writes; options say it for other "
     "models. Each example gives its name and its class with the probability, its labels, or its values in the unit of "
     "the target. What is true need not be there.\n\n"
     "A table is read row by row; predictions are written as they come.",
     tool_predict_options, tool_predict},
    {"evaluate", "MODEL DATA", 2, 2, "how good a model is on data",
     "DATA is as for mw predict, and says what is true: the field of the target, the folder of a class, a tensor. "
     "Prints figures (accuracy, auc, rmse, ..), the classes with what was mistaken for what, and the examples that are "
     "farthest from the truth; --report writes them as a page.",
     tool_evaluate_options, tool_evaluate},
    {"package", "MODEL OUT", 2, 2, "a model as an app takes it, with what it says of itself",
     "OUT ends in .mlpackage: pictures become an image of bytes, whose scale and mean are operations of the program; "
     "scores of classes become a label and the probability of each class, as Xcode shows a classifier. How pictures "
     "are read and what the classes are called is in the metadata that mw train writes; options say it for other "
     "models. OUT ends in .onnx, or is a folder of MIL: the program stays, and says all that in its metadata.",
     tool_package_options, tool_package},
    {"bench", "FILE", 1, 1, "how long a model takes",
     "Runs a model on drawn inputs until --seconds have passed and prints the median time of a run, its spread, "
     "examples "
     "a second and memory.",
     tool_bench_options, tool_bench},
    {"profile", "FILE", 1, 1, "where the time of a model goes",
     "Prints the plan of the engine with the time of each step; --trace writes a file for ui.perfetto.dev.",
     tool_profile_options, tool_profile},
    {"compare", "FILE [OTHER]", 1, 2, "two devices, or two models: the first difference",
     "With one file: its program on the CPU and on --device (the model of the ANE's arithmetic), operation by "
     "operation; "
     "says which operation differs first by itself, and what has come to the outputs. With two files: both models on "
     "the "
     "same inputs. Exit code 3 if they differ by more than the tolerance.",
     tool_compare_options, tool_compare},
    {"ranges", "[FILE]", 0, 1, "which values of a model do not fit into fp16",
     "Runs a model in fp32 on the CPU, on drawn inputs or on those of --inputs, and says of each value how large and "
     "how "
     "small it gets: what would be infinite, subnormal or 0 in fp16, the worst first. --training does so for the first "
     "step of a recipe of mw train: forward, backward and update, in the loss scale of its device. --profile h16 or "
     "h18g "
     "also counts what fixed-point sums of M4 or M6 do to the products of each operation: products below the grid of "
     "2^-16, results that become 0, partial sums that come near 32768, and the scale that would help. Exit code 3 if a "
     "value is beyond 65504 or not finite, or a sum overflows.",
     tool_ranges_options, tool_ranges},
    {"gradcheck", "FILE", 1, 1, "the gradients of a model against differences",
     "Makes the weights of a model trainable (--layers chooses some) and compares the gradient of its first result by "
     "them "
     "and by its inputs with central differences. Exit code 3 if one is wrong.",
     tool_gradcheck_options, tool_gradcheck},
    {"check", "FILE", 1, 1, "what an ANE would refuse of a model, and why",
     "Holds a model to the published rules of a chip, m1 to m6; no Mac is asked. Exit code 3 if something is refused.",
     tool_check_options, tool_check},
    {"plan", "FILE", 1, 1, "what a compiler makes of a model",
     "Without --chip the plan of the engine: steps, fused operations, buffers, memory. With --chip what the compiler "
     "of an "
     "ANE would make of it, as others have published it: layers, order, memory. --svg writes a picture of that. "
     "--time says what a run takes on m1, m4, m5 and m6, or on the one of --chip: ranges of microseconds, by rates "
     "that others have measured there.",
     tool_plan_options, tool_plan},
    {"passes", "[FILE]", 0, 1, "what happens to a program while it is compiled",
     "Compiles a model, or with --training the step of a recipe of mw train, and prints a line for each pass: stage, "
     "name, time, operations (of the last stage steps) before and after. Below it are the rules that it applied, with "
     "how often, and how often they left an operation of their kind. --why says it of one operation, with the reason; "
     "--off leaves passes and rules out, to compare; --dump writes the program as each pass left it. Exit code 1 if "
     "what a pass promises does not hold.\n\n"
     "--list prints all passes, what they find out, and rules, and which of them can be left out. docs/passes.md has "
     "them as tables.",
     tool_passes_options, tool_passes},
    {"draw", "FILE", 1, 1, "a model as a picture",
     "Draws the layers of a model and what reads what; blocks that repeat are drawn once, with how often.",
     tool_draw_options, tool_draw},
    {"plot", "METRICS [OTHER..]", 1, 8, "the curves of a run, or of several",
     "Draws what a metrics file of mw train or mw_trainer_fit says (JSON Lines or CSV): a chart for each name, other "
     "runs into "
     "the "
     "same charts.",
     tool_plot_options, tool_plot},
    {"report", "RUN", 1, 1, "a run as one page of HTML",
     "RUN is a folder that mw train --run wrote, or a metrics file. The page has curves, classes and what was mistaken "
     "for "
     "what, examples with their pictures, the network, memory and time, and what reproduces it; it needs nothing else "
     "and "
     "can be printed.",
     tool_report_options, tool_report},
    {"replay", "FOLDER", 1, 1, "why a step was refused",
     "Runs a refused step again (RUN/refused of mw train, or watch.replay_folder of a trainer) and says which value "
     "was the "
     "first "
     "without a number, with the operation and the parameter that it belongs to; exit code 3 if there is one. --device "
     "and "
     "--profile run it with another arithmetic.",
     tool_replay_options, tool_replay},
    {"inspect", "[FILE.hwx]", 0, 1, "a compiled program of the ANE",
     "Prints what a .hwx or .ane file holds: segments, ports, tasks, weights. Where there is no file, --words reads "
     "the "
     "words of tasks as text; --versions says what is known of each version of tasks.",
     tool_inspect_options, tool_inspect},
    {"train", "CONFIG", 1, 1, "train a network that a small JSON file describes, or one for data alone",
     "CONFIG says network, loss, optimizer, schedule and what is written; docs/train.md has every key, and what is "
     "wrong is "
     "said with line and column. A table (.csv, .tsv, .jsonl) in its place is learned by a network of two layers: its "
     "last "
     "field from the others; a folder with a folder of pictures or sounds for each class by one of convolutions. "
     "Options go before it. Ctrl-C saves the checkpoint and ends; the same command goes on.",
     tool_train_options, tool_train},
    {"new", "KIND DATA", 2, 2, "a recipe with comments, for the data that is there",
     "Looks at DATA and writes a recipe for mw train, which runs as it is; its comments say what may be changed. KIND "
     "is "
     "table (a .csv, .tsv or .jsonl file), sequence (a table whose rows follow each other in time), image (a folder "
     "with a folder of pictures for each class, or with IDX files), or sound (a folder with a folder of WAV or FLAC "
     "files for each class). A file that is there already is not replaced.",
     tool_new_options, tool_new},
    {"sweep", "CONFIG", 1, 1, "train a recipe with different numbers, and compare",
     "Trains CONFIG of mw train once for each value of --over and each of --seeds, every training in a process of one "
     "thread, as many at a time as there are processors. Prints loss and figure of the validation set (of the test set "
     "where there is none) for each value, with the deviation over the seeds. Each training has a folder in --run, "
     "with "
     "metrics, checkpoint and weights; the same command goes on where it was stopped.",
     tool_sweep_options, tool_sweep},
    {"finetune", "MODEL", 1, 1, "train a model that exists on data of one's own",
     "Trains the weights of a model (--layers some, --lora R adapters beside them) on --data and writes the result to "
     "--out. The model has one input; its first result are the scores of classes, or with --loss mse values.\n\n"
     "With --text MODEL is a folder of a language model (mw generate), and learns a text; --out is a folder of the "
     "same "
     "kind, its adapters merged. After each epoch it says perplexity, bits a byte and tokens a second, and writes a "
     "sample. Of conversations the answers alone are learned.",
     tool_finetune_options, tool_finetune},
    {"doctor", "", 0, 0, "what is there on this machine",
     "Machine, engine, BLAS, data sets, what stands behind the e5rt symbols (asked in a process of its own, which may "
     "crash or hang), and a small training with its gradient checked. Exit code 3 if something is wrong.",
     tool_doctor_options, tool_doctor},
    {"man", "", 0, 0, "the man page of mw", "Prints the man page, in troff. mw man | man -l -", NULL, tool_man},
    {"completion", "SHELL", 1, 1, "completion for bash, zsh or fish", "Prints a script: source <(mw completion bash)",
     NULL, tool_completion},
};

const size_t tool_command_count = sizeof tool_commands / sizeof tool_commands[0];

const tool_command *tool_find(const char *name)
{
    for (size_t i = 0; i < tool_command_count; i++) {
        if (strcmp(tool_commands[i].name, name) == 0)
            return &tool_commands[i];
    }
    return NULL;
}
