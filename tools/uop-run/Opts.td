//===- Opts.td - the options of uop-run ----------------------*- tablegen -*-===//
//
// Each option once; those with a value take it after `=` or as the next word.
//
//===----------------------------------------------------------------------===//

include "llvm/Option/OptParser.td"

class Flag1<string name, string help> : Flag<["--", "-"], name>, HelpText<help>;
multiclass Valued<string name, string meta, string help> {
  def _EQ : Joined<["--", "-"], name # "=">, MetaVarName<meta>, HelpText<help>;
  def "" : Separate<["--", "-"], name>, Alias<!cast<Joined>(NAME # "_EQ")>;
}

defm input : Valued<"input", "SLOT=FILE.npy", "The contents of a buffer">;
defm output : Valued<"output", "[outN=|SLOT=]FILE.npy",
                     "Write the value, output N of several, or a slot's buffer, "
                     "to a file">;
defm fill : Valued<"fill", "HOW",
                   "What other buffers hold: iota, ones or random:SEED">;
defm print : Valued<"print", "WHAT",
                    "Print type, uir, mlir or c, and run nothing">;
defm program : Valued<"program", "NAME",
                      "Which program or plan of a module that has several">;
def kernelize : Flag1<"kernelize",
                      "Cut the program into kernels, and run the plan of these">;
defm backend : Valued<"backend", "NAME", "c (the default) or interpreter">;
defm threads : Valued<"threads", "N", "Threads of parallel loops">;
def time : Flag1<"time", "Say how long the kernel takes">;
defm profile : Valued<"profile", "FILE.json",
                      "Write a trace that Perfetto and chrome://tracing open">;
def strict : Flag1<"strict",
                   "Exact floats: no contraction and no reassociation">;
def locations : Flag1<"locations", "Source lines as comments in --print=c">;
def help : Flag1<"help", "Show this text">;
def version : Flag1<"version", "Show the version">;
