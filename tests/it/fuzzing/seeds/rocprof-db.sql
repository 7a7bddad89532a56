create table KERN ("Index" integer, "KernelName" text, "gpu-id" integer, "queue-id" integer, "queue-index" integer, "pid" integer, "tid" integer, "grd" integer, "wgr" integer, "sig" text, "DispatchNs" integer, "BeginNs" integer, "EndNs" integer, "CompleteNs" integer, "SQ_WAVES" integer);
insert into KERN values (0, '"f(int, float) [clone .kd]"', 1, 0, 0, 5, 6, 256, 64, '0x0', 1, 100, 300, 310, '4.0000'), (1, '"f(int, float) [clone .kd]"', 1, 0, 1, 5, 6, 256, 64, '0x0', 1, 400, 500, 510, '6.0000');
create table HIP ("BeginNs" integer, "EndNs" integer, "pid" integer, "tid" integer, "Name" text, "args" text, "Index" integer);
insert into HIP values (50, 70, 5, 6, 'hipLaunchKernel', '( x)', 1);
create table COPY ("BeginNs" integer, "EndNs" integer, "pid" integer, "tid" integer, "Name" text);
insert into COPY values (10, 40, 5, 6, 'hcMemcpyHostToDevice');
