console.error('The support desk does not run yet.');
process.exitCode = 2;
